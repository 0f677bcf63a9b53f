internal import CEpoll
internal import DunlinTypes
internal import Glibc

/// A file that is being written, open and locked; closed with the last reference.
///
/// The lock is the kernel's (flock), so that it ends with the process, whatever happens: a part file that nobody has
/// locked belongs to no running process. Every call may wait for a disk.
public final class PartFile: Sendable {
    public let path: String
    /// Whether it is locked. False where the file system has no locks; then nobody can tell whether it is in use.
    public let isLocked: Bool
    /// The permissions that a new file gets here; nil for an existing file.
    public let newPermissions: UInt32?
    let descriptor: Int32

    /// Creates a new file, which only its owner may write to until `setPermissions`. Throws EEXIST if there is
    /// something by that name, and EWOULDBLOCK if somebody else has found and locked it first, and so owns it. With
    /// `needsLock`, it throws the error of a file system without locks, and leaves nothing there.
    public convenience init(
        creating path: String, permissions: UInt32 = 0o666, needsLock: Bool = false
    ) throws(Errno) {
        try self.init(creating: path, permissions: permissions, needsLock: needsLock) {}
    }

    /// `opened` is called for each file that is there and not yet locked; for tests.
    package init(
        creating path: String, permissions: UInt32 = 0o666, needsLock: Bool = false, opened: () -> Void
    ) throws(Errno) {
        self.path = path
        var left = 100
        while true {
            let descriptor = try Self.open(path, O_CREAT | O_EXCL, permissions)
            opened()
            do throws(Errno) {
                let isLocked = try Self.lock(descriptor, needsLock)
                // A sweep may have found it before it was locked, and have removed it.
                let isOurs = isLocked ? try Self.isInPlace(descriptor, path) : true
                if isOurs {
                    newPermissions = try Self.closed(descriptor, permissions)
                    (self.descriptor, self.isLocked) = (descriptor, isLocked)
                    return
                }
                left -= 1
                if left == 0 { throw Errno(rawValue: ENOENT) }
                close(descriptor)
            } catch {
                if !error.meansLocked { Self.discard(descriptor, path) }
                close(descriptor)
                throw error
            }
        }
    }

    private static func discard(_ descriptor: Int32, _ path: String) {
        do throws(Errno) { if try isInPlace(descriptor, path) { try FileSystem.remove(path) } } catch {}
    }

    /// Opens an existing file that is ours alone. Throws EWOULDBLOCK if somebody else has it locked, EINVAL if it is no
    /// regular file, and `Errno.notOurs` if it is not ours by the rules of `FileOwnership`.
    public convenience init(opening path: String, needsLock: Bool = false) throws(Errno) {
        try self.init(path, needsLock)
        if try fault() != nil { throw .notOurs }
    }

    /// Opens an existing file; also returns why it is not ours, or nil.
    public static func found(
        at path: String, needsLock: Bool = false
    ) throws(Errno) -> Result<PartFile, FileOwnership.Fault> {
        let file = try PartFile(path, needsLock)
        if let fault = try file.fault() { return .failure(fault) }
        return .success(file)
    }

    /// Opens an existing file, whoever it belongs to.
    private init(_ path: String, _ needsLock: Bool) throws(Errno) {
        self.path = path
        newPermissions = nil
        descriptor = try Self.open(path, O_NONBLOCK)
        do throws(Errno) {
            // A file of somebody else is neither used nor locked: its owner would be kept from it.
            let isOurs = try FileSystem.status(of: descriptor).ownership.fault(of: FileSystem.user) == nil
            isLocked = isOurs ? try Self.lock(descriptor, needsLock) : false
        } catch {
            close(descriptor)
            throw error
        }
        // Its owner may have moved or removed it before we had the lock.
        guard try status().kind == .file else { throw Errno(rawValue: EINVAL) }
        guard try isInPlace() else { throw Errno(rawValue: ENOENT) }
    }

    deinit {
        close(descriptor)
    }

    private func fault() throws(Errno) -> FileOwnership.Fault? {
        try status().ownership.fault(of: FileSystem.user)
    }

    /// Closes it to other writers; returns the permissions that it had. A part file that others may have written to is
    /// not resumed.
    private static func closed(_ descriptor: Int32, _ permissions: UInt32) throws(Errno) -> UInt32 {
        if FileOwnership.closed(permissions) == permissions { return permissions }
        let given = try FileSystem.status(of: descriptor).ownership.permissions
        let closed = FileOwnership.closed(given)
        // On a file system without permissions it will be found to be anybody's.
        if closed != given { fchmod(descriptor, mode_t(closed)) }
        return given
    }

    /// The permissions that a new file gets in a folder; nil where the file system has no files without a name. The one
    /// that is made for this leaves nothing behind, even if the process is killed.
    public static func newPermissions(in folder: String) throws(Errno) -> UInt32? {
        let descriptor: Int32
        do throws(Errno) {
            // O_TMPFILE, which is a macro of macros.
            let flags = O_RDWR | O_CLOEXEC | O_DIRECTORY | 0o20_000_000
            descriptor = try Descriptor.raised(Glibc.open(folder, flags, 0o666))
        } catch  where error.meansUnsupported {
            return nil
        }
        defer { close(descriptor) }
        return try FileSystem.status(of: descriptor).ownership.permissions
    }

    private static func open(
        _ path: String, _ flags: Int32, _ permissions: UInt32 = 0
    ) throws(Errno) -> Int32 {
        try FileSystem.check(path)
        let common = O_RDWR | O_CLOEXEC | O_NOFOLLOW | O_NOCTTY
        return try Descriptor.raised(Glibc.open(path, common | flags, mode_t(permissions)))
    }

    /// Whether it is locked now.
    private static func lock(_ descriptor: Int32, _ isNeeded: Bool) throws(Errno) -> Bool {
        while flock(descriptor, LOCK_EX | LOCK_NB) != 0 {
            let failure = Errno.last
            // Some file systems have no locks; a name that nobody else takes must be enough there.
            if !isNeeded, failure.meansNoLocks { return false }
            if failure.rawValue != EINTR { throw failure }
        }
        return true
    }

    /// Ends the lock now, though the file may stay open for a while: nothing is done with it any more.
    public func unlock() {
        flock(descriptor, LOCK_UN)
    }

    public func status() throws(Errno) -> FileStatus {
        try FileSystem.status(of: descriptor)
    }

    public func setPermissions(_ permissions: UInt32) throws(Errno) {
        guard try status().ownership.permissions != permissions else { return }
        guard fchmod(descriptor, mode_t(permissions)) == 0 else { throw Errno.last }
    }

    /// Whether its path still names this file.
    public func isInPlace() throws(Errno) -> Bool { try Self.isInPlace(descriptor, path) }

    private static func isInPlace(_ descriptor: Int32, _ path: String) throws(Errno) -> Bool {
        let own = try FileSystem.status(of: descriptor)
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

    /// Writes everything that the other file holds.
    public func fill(from other: PartFile) throws(Errno) {
        var offset = 0
        while true {
            let bytes = Bytes(try other.read(at: offset, upTo: 1 << 20))
            if bytes.isEmpty { return }
            try bytes.withUnsafeBytes { bytes throws(Errno) in try write(bytes, at: offset) }
            offset += bytes.count
        }
    }

    /// Returns up to `count` bytes at `offset`; empty at the end.
    public func read(at offset: Int, upTo count: Int) throws(Errno) -> [UInt8] {
        try FileSystem.read(descriptor, at: offset, upTo: count)
    }

    /// Reserves room for `length` bytes in the file system, so that writing them cannot fail for lack of space later.
    /// Returns false if it cannot reserve. The file does not become longer.
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

    /// Removes the file, if its path still names it.
    public func remove() throws(Errno) {
        guard try isInPlace() else { return }
        try FileSystem.remove(path)
    }
}
