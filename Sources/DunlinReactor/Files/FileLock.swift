internal import CEpoll
internal import Glibc

/// A lock on one byte of a file, which all processes share; it ends with the last reference, and with the process.
///
/// The file is only there to be locked. The lock belongs to this opening of it (`F_OFD_SETLK`), so that it keeps
/// threads of one process apart as well.
public final class FileLock: Sendable {
    private let descriptor: Int32
    /// Whether it is locked; false if the file system has no such locks.
    public let isLocked: Bool

    /// Locks a byte. Waits for at most `limit` milliseconds, then throws EWOULDBLOCK, as the owner may have been
    /// stopped. The file is created if it is missing.
    public init(_ path: String, position: Int, limit: Int = 500) throws(Errno) {
        try FileSystem.check(path)
        let flags = O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NOCTTY | O_NONBLOCK
        descriptor = try Descriptor.raised(open(path, flags, 0o600))
        do throws(Errno) {
            isLocked = try Self.lock(descriptor, position, limit)
        } catch {
            close(descriptor)
            throw error
        }
    }

    deinit {
        close(descriptor)
    }

    private static func lock(_ descriptor: Int32, _ position: Int, _ limit: Int) throws(Errno) -> Bool {
        var waited = 0
        while true {
            var range = flock()
            range.l_type = Int16(F_WRLCK)
            range.l_whence = Int16(SEEK_SET)
            range.l_start = off_t(position)
            range.l_len = 1
            if fcntl(descriptor, dunlin_lock_of_opening, &range) == 0 { return true }
            let failure = Errno.last
            if failure.meansNoLocks || failure.meansUnsupported { return false }
            guard failure.rawValue == EWOULDBLOCK || failure.rawValue == EACCES || failure.rawValue == EINTR,
                waited < limit
            else { throw Errno(rawValue: failure.rawValue == EACCES ? EWOULDBLOCK : failure.rawValue) }
            poll(nil, 0, 1)
            waited += 1
        }
    }
}
