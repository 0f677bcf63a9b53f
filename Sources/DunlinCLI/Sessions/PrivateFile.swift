import Dunlin
import DunlinCommandLine
import Glibc

/// A file with secrets: it is read only if nobody else can read or change it, and written in one step.
struct PrivateFile {
    let path: String
    /// What it is called in an error: `the session file`.
    let title: String
    /// Whether it may be a link to another file.
    var mayBeLink = false

    /// All bytes; nil if there is no such file.
    func read(upTo limit: Int) throws(UsageError) -> [UInt8]? {
        let links = mayBeLink ? 0 : O_NOFOLLOW
        // Whoever put a pipe there would have the command wait.
        let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | links)
        if descriptor < 0 {
            switch errno {
            case ENOENT: return nil
            case ELOOP where !mayBeLink: throw refusal("is a link to another file", "rm \(ShellText.quoted(path))")
            default: throw error("cannot be read: \(String(cString: strerror(errno)))")
            }
        }
        defer { close(descriptor) }
        try check(descriptor)
        guard let bytes = InputFile.bytes(of: descriptor, upTo: limit) else {
            throw error("cannot be read: \(String(cString: strerror(errno)))")
        }
        guard bytes.count <= limit else { throw error("is longer than \(limit.readableBytes)") }
        return bytes
    }

    private func check(_ descriptor: Int32) throws(UsageError) {
        var status = stat()
        guard fstat(descriptor, &status) == 0 else { throw error("cannot be looked at") }
        guard status.st_mode & S_IFMT == S_IFREG else { throw error("is not a regular file") }
        if status.st_uid != geteuid() {
            throw refusal("belongs to another user", "sudo chown \(geteuid()) \(ShellText.quoted(path))")
        }
        if status.st_mode & 0o077 != 0 {
            let verb = status.st_mode & 0o044 != 0 ? "read" : "changed"
            throw refusal("can be \(verb) by other users", "chmod 600 \(ShellText.quoted(path))")
        }
    }

    func error(_ problem: String) -> UsageError { UsageError(description: "\(title) \(path) \(problem)") }

    private func refusal(_ problem: String, _ line: String) -> UsageError { error("\(problem); mend it by: \(line)") }
}
