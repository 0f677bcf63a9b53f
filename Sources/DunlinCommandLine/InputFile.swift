internal import Glibc

/// A file that the arguments name, and whose content is wanted. What is wrong with one is an error of the arguments.
package enum InputFile {
    /// Whether it is a regular file, which has a length and can be read again. Pipes and devices are read once.
    package static func isRegular(_ path: String) throws(UsageError) -> Bool {
        var status = stat()
        guard stat(path, &status) == 0 else { throw unreadable(path, errno) }
        let kind = status.st_mode & S_IFMT
        if kind == S_IFDIR { throw unreadable(path, EISDIR) }
        guard access(path, R_OK) == 0 else { throw unreadable(path, errno) }
        return kind == S_IFREG
    }

    /// Throws if the file is not there, or cannot be read.
    package static func check(_ path: String) throws(UsageError) { _ = try isRegular(path) }

    /// All of it.
    package static func bytes(of path: String) throws(UsageError) -> [UInt8] {
        try check(path)
        let descriptor = open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { throw unreadable(path, errno) }
        defer { close(descriptor) }
        guard let bytes = bytes(of: descriptor) else { throw unreadable(path, errno) }
        return bytes
    }

    package static func standardInput() throws(UsageError) -> [UInt8] {
        guard let bytes = bytes(of: STDIN_FILENO) else {
            throw UsageError(description: "standard input cannot be read: \(String(cString: strerror(errno)))")
        }
        return bytes
    }

    /// All bytes that come, or a few more than the limit; nil if reading fails.
    package static func bytes(of descriptor: Int32, upTo limit: Int = .max) -> [UInt8]? {
        var all: [UInt8] = []
        var piece = [UInt8](repeating: 0, count: 64 * 1024)
        while all.count <= limit {
            let count = read(descriptor, &piece, piece.count)
            if count == 0 { break }
            if count > 0 {
                all += piece[..<count]
            } else if errno != EINTR {
                return nil
            }
        }
        return all
    }

    package static func unreadable(_ path: String, _ code: Int32) -> UsageError {
        UsageError(description: "the file \(path) cannot be read: \(String(cString: strerror(code)))")
    }
}
