import Dunlin
import DunlinCommandLine
import FoundationEssentials
import Glibc

/// The folder of the sessions' files, one a session, which only its user can enter.
struct SessionFolder: Sendable {
    let path: String

    /// `$XDG_CONFIG_HOME/dunlin/sessions`, or `~/.config/dunlin/sessions`.
    static func own(
        _ variables: [String: String] = ProcessInfo.processInfo.environment
    ) throws(UsageError) -> SessionFolder {
        if let folder = variables["XDG_CONFIG_HOME"], folder.hasPrefix("/") {
            return SessionFolder(path: folder + "/dunlin/sessions")
        }
        guard let home = variables["HOME"], home.hasPrefix("/") else {
            throw UsageError(description: "HOME is not set, so there is no folder for sessions")
        }
        return SessionFolder(path: home + "/.config/dunlin/sessions")
    }

    private static let ending = ".json"
    /// How long another run may hold the folder.
    private static let longestWait = 10

    private func file(_ name: SessionName) -> PrivateFile {
        PrivateFile(path: "\(path)/\(name)\(Self.ending)", title: "the session file")
    }

    /// The path of a session's file.
    func path(of name: SessionName) -> String { file(name).path }

    /// The session; nil if there is none of this name.
    func session(_ name: SessionName) throws(UsageError) -> StoredSession? {
        guard try checkedFolder() else { return nil }
        return try session(in: file(name))
    }

    private func session(in file: PrivateFile) throws(UsageError) -> StoredSession? {
        guard let bytes = try file.read(upTo: StoredSession.longest) else { return nil }
        do throws(UsageError) {
            return try StoredSession(Bytes(bytes))
        } catch {
            throw file.error(error.description)
        }
    }

    /// The names of all sessions, in order. Files of others are left out.
    func names() -> [SessionName] {
        let files: [String]
        do { files = try FileManager.default.contentsOfDirectory(atPath: path) } catch { return [] }
        return files.filter { $0.hasSuffix(Self.ending) }.sorted().compactMap { file in
            do throws(UsageError) { return try SessionName(String(file.dropLast(Self.ending.count))) } catch {
                return nil
            }
        }
    }

    /// Removes a session. Returns whether there was one.
    func remove(_ name: SessionName) throws(UsageError) -> Bool {
        guard try checkedFolder() else { return false }
        return try locked { () throws(UsageError) in
            if unlink(file(name).path) == 0 { return true }
            if errno == ENOENT { return false }
            throw file(name).error("cannot be removed: \(String(cString: strerror(errno)))")
        }
    }

    /// Changes a session, of which `change` is given the newest state; nil for none. What it returns is stored; nil
    /// changes nothing. A file that cannot be read is left as it is.
    func update(
        _ name: SessionName, _ change: (StoredSession?) -> StoredSession?
    ) throws(UsageError) {
        try make()
        try locked { () throws(UsageError) in
            let file = file(name)
            guard let session = change(try session(in: file)) else { return }
            // Whoever has the lock is the only one who writes, so an earlier one of that name was left behind.
            let temporary = "\(path)/.\(name)\(Self.ending)"
            unlink(temporary)
            let text: Bytes
            do { text = try session.written() } catch { throw file.error("cannot be written: \(error)") }
            if let problem = FileBytes.replace(file.path, with: text.array, by: temporary) {
                throw file.error("cannot be written: \(problem)")
            }
        }
    }
}

// MARK: - The folder

extension SessionFolder {
    /// Makes the folder and those above it, for their owner alone.
    private func make() throws(UsageError) {
        var made = ""
        for segment in path.split(separator: "/") {
            made += "/\(segment)"
            if mkdir(made, 0o700) != 0, errno != EEXIST {
                // What is there is looked at next, whatever a file system says of making it again.
                var status = stat()
                if stat(made, &status) == 0 { continue }
                throw UsageError(description: "the folder \(made) cannot be made: \(String(cString: strerror(errno)))")
            }
        }
        guard try checkedFolder() else {
            throw UsageError(description: "the folder \(path) was removed meanwhile")
        }
    }

    /// Whether the folder is there. Throws if others can change what is in it.
    private func checkedFolder() throws(UsageError) -> Bool {
        var status = stat()
        guard stat(path, &status) == 0 else { return false }
        let folder = "the folder of sessions \(path)"
        guard status.st_mode & S_IFMT == S_IFDIR else { throw UsageError(description: "\(folder) is no folder") }
        if status.st_uid != geteuid() { throw UsageError(description: "\(folder) belongs to another user") }
        if status.st_mode & 0o022 != 0 {
            let line = "chmod 700 \(ShellText.quoted(path))"
            throw UsageError(description: "\(folder) can be changed by other users; mend it by: \(line)")
        }
        return true
    }

    /// Calls `body` while no other run of the command writes in the folder.
    private func locked<Result>(_ body: () throws(UsageError) -> Result) throws(UsageError) -> Result {
        let descriptor = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard descriptor >= 0 else {
            throw UsageError(description: "the folder \(path) cannot be opened: \(String(cString: strerror(errno)))")
        }
        // Closing gives the lock back.
        defer { close(descriptor) }
        var pause = timespec(tv_sec: 0, tv_nsec: 20_000_000)
        var attempts = Self.longestWait * 50
        while flock(descriptor, LOCK_EX | LOCK_NB) != 0 {
            guard errno == EWOULDBLOCK || errno == EINTR, attempts > 0 else {
                throw UsageError(
                    description: "another command has held the folder \(path) for \(Self.longestWait) seconds")
            }
            attempts -= 1
            nanosleep(&pause, nil)
        }
        return try body()
    }
}
