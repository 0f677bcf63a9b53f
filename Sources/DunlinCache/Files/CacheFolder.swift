package import DunlinReactor
internal import DunlinTypes

/// A cache's folder, and calls in it. Each may wait for a disk.
///
/// Files are written under a temporary name and renamed when they are whole, in one step. Nothing is synced: what a
/// loss of power damages is recognised by its checksum and counts as absent.
package struct CacheFolder: Sendable {
    package enum Operation: Sendable, Hashable, CaseIterable {
        case prepare, list, open, read, create, write, rename, remove, lock, mark
    }

    /// The permissions of new and used files: those used again have no write permission, a mark that outlives the
    /// process.
    static let (new, used): (UInt32, UInt32) = (0o600, 0o400)

    let path: String
    /// Decides which calls fail, for tests. It is called before each.
    package var failing: (@Sendable (Operation) -> Errno?)?
    /// How long to wait for a lock, in milliseconds: its owner may have been stopped.
    var lockLimit = 500

    package init(_ path: String, failing: (@Sendable (Operation) -> Errno?)? = nil) {
        (self.path, self.failing) = (path, failing)
    }

    func path(of file: CacheFileName) -> String { path + "/" + file.text }

    private func begin(_ operation: Operation) throws(Errno) {
        if let errno = failing?(operation) { throw errno }
    }

    /// Creates the folder if it is missing. Returns why it may not be used; nil if it is ours alone.
    func prepare() throws(Errno) -> FileOwnership.Fault? {
        try begin(.prepare)
        try FileSystem.makeFolders(path, permissions: 0o700)
        return try FileSystem.fault(ofFolder: path)
    }

    func names() throws(Errno) -> [String] {
        try begin(.list)
        return try FileSystem.names(in: path)
    }

    /// Returns a file's status; nil if there is no such file.
    func status(of file: String) throws(Errno) -> FileStatus? {
        try FileSystem.status(of: path + "/" + file)
    }

    /// Opens a file; nil if there is no such file.
    func open(_ file: CacheFileName) throws(Errno) -> OpenFile? {
        do throws(Errno) {
            try begin(.open)
            return try OpenFile(path(of: file))
        } catch {
            if error.meansNoSuchFile { return nil }
            throw error
        }
    }

    func read(_ file: OpenFile, at offset: Int, upTo count: Int) throws(Errno) -> [UInt8] {
        try begin(.read)
        var bytes = try file.read(at: offset, upTo: count)
        // A call may return fewer bytes than there are.
        while bytes.count < count {
            let more = try file.read(at: offset + bytes.count, upTo: count - bytes.count)
            if more.isEmpty { break }
            bytes += more
        }
        return bytes
    }

    /// Returns the contents of a file; nil if there is none. A file longer than `limit` counts as empty, as a damaged
    /// one does.
    func contents(of file: CacheFileName, limit: Int) throws(Errno) -> [UInt8]? {
        guard let open = try open(file) else { return nil }
        return open.length > limit ? [] : try read(open, at: 0, upTo: open.length)
    }

    /// Creates a file with a new name, locked while it is open, which tells others whether it is still in use.
    func create() throws(Errno) -> PartFile {
        try begin(.create)
        while true {
            let name = CacheFileName.temporary(.random(in: 0 ... .max))
            do throws(Errno) {
                return try PartFile(creating: path(of: name), permissions: Self.new)
            } catch {
                // Another process checked, before it was locked, whether it was in use.
                if !error.meansLocked { throw error }
            }
        }
    }

    func write(_ bytes: [UInt8], at offset: Int, into file: PartFile) throws(Errno) {
        try begin(.write)
        try Bytes(bytes).withUnsafeBytes { bytes throws(Errno) in try file.write(bytes, at: offset) }
    }

    func rename(_ file: PartFile, to name: CacheFileName) throws(Errno) {
        try begin(.rename)
        try FileSystem.move(file.path, to: path(of: name), overwriting: true)
    }

    /// Renames the file, unless another process was first: then its file stays, and this one is removed.
    func put(_ file: PartFile, as name: CacheFileName) throws(Errno) {
        try begin(.rename)
        do throws(Errno) {
            try FileSystem.move(file.path, to: path(of: name), overwriting: false)
        } catch {
            guard try status(of: name.text) != nil else { throw error }
            try file.remove()
        }
    }

    func remove(_ file: CacheFileName) throws(Errno) {
        try begin(.remove)
        try FileSystem.remove(path(of: file))
    }

    func remove(named file: String) throws(Errno) {
        try begin(.remove)
        try FileSystem.remove(path + "/" + file)
    }

    /// Locks a name, so that nobody else changes what is stored under it. `file` is an open file of an earlier lock,
    /// which nobody has locked now; `release` gets the locked file once it is unlocked.
    func lock(
        _ name: CacheName, by file: LockFile?, release: @escaping @Sendable (LockFile) -> Void
    ) throws(Errno) -> FileLock {
        try begin(.lock)
        let usable = if let file, file.isInPlace { file } else { try LockFile(path(of: .lock)) }
        return try FileLock(usable, position: name.lockPosition, limit: lockLimit, release: release)
    }

    func mark(_ name: CacheName) throws(Errno) {
        try begin(.mark)
        try FileSystem.setPermissions(Self.used, of: path(of: .record(name)))
    }
}
