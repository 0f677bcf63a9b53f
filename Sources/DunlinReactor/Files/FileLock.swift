internal import CEpoll
internal import Glibc

/// A file that all processes share, and whose single bytes are locked; it has no other use. It is open as long as it is
/// referenced.
///
/// A lock belongs to this opening of the file (`F_OFD_SETLK`), so it also excludes threads of the same process, if each
/// has its own opening.
public final class LockFile: Sendable {
    private let path: String
    private let descriptor: Int32
    private let opened: FileStatus

    /// Opens the file, which is created if it is missing.
    public init(_ path: String) throws(Errno) {
        try FileSystem.check(path)
        let flags = O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NOCTTY | O_NONBLOCK
        let descriptor = try Descriptor.raised(open(path, flags, 0o600))
        do throws(Errno) {
            opened = try FileSystem.status(of: descriptor)
        } catch {
            close(descriptor)
            throw error
        }
        (self.path, self.descriptor) = (path, descriptor)
    }

    deinit {
        close(descriptor)
    }

    /// Whether others lock the same file, because its path still names it.
    public var isInPlace: Bool {
        do throws(Errno) { return try FileSystem.status(of: path)?.isSameFile(as: opened) ?? false } catch {
            return false
        }
    }

    /// Locks a byte. Waits for at most `limit` milliseconds, then throws EWOULDBLOCK, as the owner may have been
    /// stopped. Returns false if the file system has no such locks.
    public func lock(_ position: Int, limit: Int = 500) throws(Errno) -> Bool {
        var waited = 0
        while true {
            if set(F_WRLCK, position) { return true }
            let failure = Errno.last
            if failure.meansNoLocks || failure.meansUnsupported { return false }
            guard failure.rawValue == EWOULDBLOCK || failure.rawValue == EACCES || failure.rawValue == EINTR,
                waited < limit
            else { throw Errno(rawValue: failure.rawValue == EACCES ? EWOULDBLOCK : failure.rawValue) }
            poll(nil, 0, 1)
            waited += 1
        }
    }

    public func unlock(_ position: Int) {
        _ = set(F_UNLCK, position)
    }

    private func set(_ type: Int32, _ position: Int) -> Bool {
        var range = flock()
        range.l_type = Int16(type)
        range.l_whence = Int16(SEEK_SET)
        range.l_start = off_t(position)
        range.l_len = 1
        return fcntl(descriptor, dunlin_lock_of_opening, &range) == 0
    }
}

/// A lock on one byte of a file; it ends with the last reference, and with the process.
public final class FileLock: Sendable {
    private let file: LockFile
    private let position: Int
    private let release: @Sendable (LockFile) -> Void
    /// Whether it is locked; false if the file system has no such locks.
    public let isLocked: Bool

    /// Locks a byte of the file, which nobody else may lock until then. Waits for at most `limit` milliseconds, like
    /// `LockFile.lock`. `release` gets the file once it is unlocked.
    public init(
        _ file: LockFile, position: Int, limit: Int = 500, release: @escaping @Sendable (LockFile) -> Void = { _ in }
    ) throws(Errno) {
        isLocked = try file.lock(position, limit: limit)
        (self.file, self.position, self.release) = (file, position, release)
    }

    deinit {
        if isLocked { file.unlock(position) }
        release(file)
    }
}
