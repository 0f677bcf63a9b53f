internal import Glibc

/// A regular file, open for reading; closed with the last reference.
///
/// Opening and reading may wait for a disk, so a loop's thread must not do it.
public final class OpenFile: Sendable {
    let descriptor: Int32
    /// The length of the file when it was opened.
    public let length: Int

    /// Opens a file. Throws EISDIR for a directory and EINVAL for anything else that is not a regular file.
    public init(_ path: String) throws(Errno) {
        (descriptor, length) = try Self.open(path)
    }

    /// Opens a file that is ours alone, by the rules of `FileOwnership`. Throws `Errno.notOurs` for one that is not,
    /// and ELOOP for a link.
    public init(own path: String) throws(Errno) {
        (descriptor, length) = try Self.open(path, O_NOFOLLOW, isOwn: true)
    }

    private static func open(
        _ path: String, _ flags: Int32 = 0, isOwn: Bool = false
    ) throws(Errno) -> (descriptor: Int32, length: Int) {
        try FileSystem.check(path)
        // Without O_NONBLOCK the opening of a pipe would wait for a writer.
        let descriptor = try Descriptor.raised(
            Glibc.open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY | flags))
        do throws(Errno) {
            let length = try length(of: descriptor)
            if isOwn, try FileSystem.status(of: descriptor).ownership.fault(of: FileSystem.user) != nil {
                throw .notOurs
            }
            return (descriptor, length)
        } catch {
            close(descriptor)
            throw error
        }
    }

    deinit {
        close(descriptor)
    }

    private static func length(of descriptor: Int32) throws(Errno) -> Int {
        var status = stat()
        guard fstat(descriptor, &status) == 0 else { throw Errno.last }
        switch status.st_mode & S_IFMT {
        case S_IFREG: return Int(status.st_size)
        case S_IFDIR: throw Errno(rawValue: EISDIR)
        default: throw Errno(rawValue: EINVAL)
        }
    }

    /// Returns up to `count` bytes at `offset`; empty at the end.
    public func read(at offset: Int, upTo count: Int) throws(Errno) -> [UInt8] {
        // Swift writes the count into an array without room too, and all of these share one memory.
        guard count > 0 else { return [] }
        return try FileSystem.read(descriptor, at: offset, upTo: count)
    }
}
