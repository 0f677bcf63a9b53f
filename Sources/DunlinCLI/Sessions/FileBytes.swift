import DunlinCommandLine
import Glibc

/// Reads and writes whole files.
enum FileBytes {
    /// All bytes, or a few more than the limit; nil if reading fails.
    static func all(of descriptor: Int32, upTo limit: Int) -> [UInt8]? {
        var all: [UInt8] = []
        var piece = [UInt8](repeating: 0, count: 64 * 1024)
        while all.count <= limit {
            let count = Glibc.read(descriptor, &piece, piece.count)
            if count == 0 { break }
            if count > 0 {
                all += piece[..<count]
            } else if errno != EINTR {
                return nil
            }
        }
        return all
    }

    /// Writes a file that appears, or is replaced, in one step. A new one is for its owner alone; another keeps its
    /// mode. Returns what has failed; nil if nothing has.
    ///
    /// The bytes are written to `temporary` first, which is beside the file and is nobody else's.
    static func replace(_ path: String, with bytes: some Sequence<UInt8>, by temporary: String) -> String? {
        var status = stat()
        let mode = stat(path, &status) == 0 ? status.st_mode & 0o777 : 0o600
        let descriptor = open(temporary, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0o600)
        if descriptor < 0 { return String(cString: strerror(errno)) }
        let isWritten = write(Array(bytes), to: descriptor) && fchmod(descriptor, mode) == 0 && fsync(descriptor) == 0
        let isClosed = close(descriptor) == 0
        if isWritten, isClosed, rename(temporary, path) == 0 { return nil }
        let problem = String(cString: strerror(errno))
        unlink(temporary)
        return problem
    }

    private static func write(_ bytes: [UInt8], to descriptor: Int32) -> Bool {
        var rest = bytes[...]
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes { Glibc.write(descriptor, $0.baseAddress, $0.count) }
            if count < 0, errno != EINTR { return false }
            rest = rest.dropFirst(max(count, 0))
        }
        return true
    }
}
