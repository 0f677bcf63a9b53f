import DunlinDisplay
import Glibc

/// Writes whole files.
enum FileBytes {
    /// Writes a file that appears, or is replaced, in one step. A new one is for its owner alone; another keeps its
    /// mode. Returns what has failed; nil if nothing has.
    ///
    /// The bytes are written to `temporary` first, which is beside the file and is nobody else's.
    static func replace(_ path: String, with bytes: some Sequence<UInt8>, by temporary: String) -> String? {
        var status = stat()
        let mode = stat(path, &status) == 0 ? status.st_mode & 0o777 : 0o600
        let descriptor = open(temporary, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0o600)
        if descriptor < 0 { return String(cString: strerror(errno)) }
        let isWritten =
            Array(bytes).withUnsafeBytes { DescriptorOutput.write($0, to: descriptor) } == 0
            && fchmod(descriptor, mode) == 0 && fsync(descriptor) == 0
        let isClosed = close(descriptor) == 0
        if isWritten, isClosed, rename(temporary, path) == 0 { return nil }
        let problem = String(cString: strerror(errno))
        unlink(temporary)
        return problem
    }
}
