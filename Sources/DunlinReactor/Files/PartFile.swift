internal import CEpoll
internal import DunlinTypes
internal import Glibc

/// A file that is being written, open and locked; closed when the last reference goes.
///
/// The lock is the kernel's (flock), so that it ends with the process whatever happens to that: a part file that nobody
/// has locked belongs to nobody who is alive. Every call may wait for a disk.
public final class PartFile: Sendable {
    public let path: String
    /// False where the file system knows no locks: nobody can tell then whether somebody uses it.
    public let isLocked: Bool
    let descriptor: Int32

    /// Makes a new file. Throws EEXIST if there is something by that name, and with `needsLock` what a file system says
    /// that knows no locks; nothing is left there then.
    public init(creating path: String, permissions: UInt32 = 0o666, needsLock: Bool = false) throws(Errno) {
        self.path = path
        descriptor = try Self.open(path, O_CREAT | O_EXCL, permissions)
        do throws(Errno) {
            isLocked = try Self.lock(descriptor, needsLock)
        } catch {
            close(descriptor)
            do throws(Errno) { try FileSystem.remove(path) } catch {}
            throw error
        }
    }

    /// Opens a file that is there. Throws EWOULDBLOCK if somebody else has it locked, and EINVAL if it is no regular
    /// file.
    public init(opening path: String, needsLock: Bool = false) throws(Errno) {
        self.path = path
        descriptor = try Self.open(path, O_NONBLOCK)
        do throws(Errno) {
            isLocked = try Self.lock(descriptor, needsLock)
        } catch {
            close(descriptor)
            throw error
        }
        // Its owner may have moved or removed it before our lock came.
        guard try status().kind == .file else { throw Errno(rawValue: EINVAL) }
        guard try isInPlace() else { throw Errno(rawValue: ENOENT) }
    }

    deinit {
        close(descriptor)
    }

    private static func open(
        _ path: String, _ flags: Int32, _ permissions: UInt32 = 0
    ) throws(Errno) -> Int32 {
        try FileSystem.check(path)
        let common = O_RDWR | O_CLOEXEC | O_NOFOLLOW | O_NOCTTY
        let descriptor = Glibc.open(path, common | flags, mode_t(permissions))
        guard descriptor >= 0 else { throw Errno.last }
        return descriptor
    }

    /// Whether it is locked now.
    private static func lock(_ descriptor: Int32, _ isNeeded: Bool) throws(Errno) -> Bool {
        while flock(descriptor, LOCK_EX | LOCK_NB) != 0 {
            let failure = Errno.last
            // Some file systems know no locks; a name that nobody else takes must do there.
            if !isNeeded, failure.meansNoLocks { return false }
            if failure.rawValue != EINTR { throw failure }
        }
        return true
    }

    /// Lets others have it now, though it may stay open for a while: nothing is done with it any more.
    public func unlock() {
        flock(descriptor, LOCK_UN)
    }

    public func status() throws(Errno) -> FileStatus {
        var status = stat()
        guard fstat(descriptor, &status) == 0 else { throw Errno.last }
        return FileStatus(status)
    }

    /// Whether its path still names this file.
    public func isInPlace() throws(Errno) -> Bool {
        let own = try status()
        return try FileSystem.status(of: path).map { $0.isSameFile(as: own) } ?? false
    }
}

// MARK: - Contents

extension PartFile {
    /// Writes all of `bytes`, wherever the file ends now.
    public func write(_ bytes: UnsafeRawBufferPointer, at offset: Int) throws(Errno) {
        var done = 0
        while done < bytes.count {
            let rest = UnsafeRawBufferPointer(rebasing: bytes[done...])
            let count = pwrite(descriptor, rest.baseAddress, rest.count, off_t(offset + done))
            if count > 0 {
                done += count
            } else if count == 0 {
                throw Errno(rawValue: ENOSPC)
            } else if errno != EINTR {
                throw Errno.last
            }
        }
    }

    /// Writes all that the other holds.
    public func fill(from other: PartFile) throws(Errno) {
        var offset = 0
        while true {
            let bytes = Bytes(try other.read(at: offset, upTo: 1 << 20))
            if bytes.isEmpty { return }
            try bytes.withUnsafeBytes { bytes throws(Errno) in try write(bytes, at: offset) }
            offset += bytes.count
        }
    }

    /// Up to `count` bytes at `offset`; empty at the end.
    public func read(at offset: Int, upTo count: Int) throws(Errno) -> [UInt8] {
        try FileSystem.read(descriptor, at: offset, upTo: count)
    }

    /// Has the file system set aside what `length` bytes take, so that they cannot fail for want of space later. False
    /// if it does no such thing. The file does not become longer.
    @discardableResult
    public func allocate(_ length: Int) throws(Errno) -> Bool {
        while dunlin_fallocate(descriptor, dunlin_fallocate_keep_size, 0, Int64(length)) != 0 {
            switch errno {
            case EINTR: continue
            case EOPNOTSUPP, ENOSYS: return false
            default: throw Errno.last
            }
        }
        return true
    }

    public func truncate(to length: Int) throws(Errno) {
        while ftruncate(descriptor, off_t(length)) != 0 {
            if errno != EINTR { throw Errno.last }
        }
    }

    /// Returns once the contents would survive a loss of power.
    public func sync() throws(Errno) {
        while fsync(descriptor) != 0 {
            if errno != EINTR { throw Errno.last }
        }
    }

    /// Removes it, if it is still where it was.
    public func remove() throws(Errno) {
        guard try isInPlace() else { return }
        try FileSystem.remove(path)
    }
}
