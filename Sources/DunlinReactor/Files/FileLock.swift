internal import CEpoll
internal import Glibc

/// A file that is only there to be locked, by single bytes of it, which all processes share. It is open as long as
/// somebody has it.
///
/// A lock belongs to this opening of it (`F_OFD_SETLK`), so that it keeps threads of one process apart as well, if each
/// has an opening of its own.
public final class LockFile: Sendable {
    private let path: String
    private let descriptor: Int32
    private let opened: FileStatus

    /// The file is made if it is not there.
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

    /// Whether others lock the same file: it is still what its path names.
    public var isInPlace: Bool {
        do throws(Errno) { return try FileSystem.status(of: path)?.isSameFile(as: opened) ?? false } catch {
            return false
        }
    }

    /// Locks a byte. Waits for `limit` milliseconds at most, and throws EWOULDBLOCK after that: whoever has it may have
    /// been stopped. False where the file system has no such locks.
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
    /// False where the file system has no such locks.
    public let isLocked: Bool

    /// Waits for `limit` milliseconds at most, as `LockFile.lock` does. `release` gets the file when it is not locked
    /// any more: nobody else may lock it before.
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
