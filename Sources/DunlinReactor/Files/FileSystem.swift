internal import CEpoll
internal import Glibc

/// What is known of a file without opening it.
public struct FileStatus: Sendable {
    public enum Kind: Sendable, Hashable {
        case file
        case folder
        case other
    }

    public let kind: Kind
    public let length: Int
    /// The time of the last change, in seconds since 1970.
    public let modified: Int
    /// The file's number in its file system, the same under every name of the file.
    public let number: UInt64
    private let device: UInt
    public let ownership: FileOwnership

    init(_ status: stat) {
        switch status.st_mode & S_IFMT {
        case S_IFREG: kind = .file
        case S_IFDIR: kind = .folder
        default: kind = .other
        }
        length = Int(status.st_size)
        modified = Int(status.st_mtim.tv_sec)
        (device, number) = (UInt(status.st_dev), UInt64(status.st_ino))
        ownership = FileOwnership(
            kind: kind, owner: status.st_uid, links: Int(clamping: status.st_nlink),
            permissions: status.st_mode & 0o7777)
    }

    /// Returns whether it was last changed at least `age` seconds before `now`. A file's time may be set to any value.
    public func isOlder(than age: Int, at now: Int) -> Bool {
        let (passed, isBeyond) = now.subtractingReportingOverflow(modified)
        return isBeyond ? modified < 0 : passed >= age
    }

    public func isSameFile(as other: FileStatus) -> Bool {
        device == other.device && number == other.number
    }
}

/// Calls by the names of files. Each may wait for a disk.
public enum FileSystem {
    static func check(_ path: String) throws(Errno) {
        // C would take a path with a NUL for a shorter one.
        guard path.withCString({ strlen($0) }) == path.utf8.count else { throw Errno(rawValue: EINVAL) }
    }

    /// Returns the status of the name itself, even if it is a link. Nil if there is nothing by that name.
    public static func status(of path: String) throws(Errno) -> FileStatus? {
        try check(path)
        var status = stat()
        if lstat(path, &status) == 0 { return FileStatus(status) }
        if errno == ENOENT { return nil }
        throw Errno.last
    }

    /// Gives a file another name on the same file system, in one step: others see the old state or the new. Without
    /// `overwriting` it throws EEXIST if there is something by that name, however late that came.
    public static func move(_ path: String, to target: String, overwriting: Bool) throws(Errno) {
        try check(path)
        try check(target)
        if overwriting {
            guard rename(path, target) == 0 else { throw Errno.last }
            return
        }
        if dunlin_renameat2(AT_FDCWD, path, AT_FDCWD, target, dunlin_rename_noreplace) == 0 { return }
        let failure = Errno.last
        guard failure.meansUnsupported else { throw failure }
        // A file system that cannot rename this way can link, which never replaces anything.
        guard link(path, target) == 0 else { throw Errno.last }
        guard unlink(path) == 0 else { throw Errno.last }
    }

    /// Removes a file; has no effect if there is nothing by that name.
    public static func remove(_ path: String) throws(Errno) {
        try check(path)
        guard unlink(path) == 0 || errno == ENOENT else { throw Errno.last }
    }

    /// Changes the permissions of a file that is named without links.
    public static func setPermissions(_ permissions: UInt32, of path: String) throws(Errno) {
        try check(path)
        guard chmod(path, mode_t(permissions)) == 0 else { throw Errno.last }
    }

    /// Makes a folder and the missing ones above it.
    public static func makeFolders(_ path: String, permissions: UInt32 = 0o777) throws(Errno) {
        try check(path)
        if mkdir(path, mode_t(permissions)) == 0 { return }
        switch errno {
        case EEXIST:
            var status = stat()
            guard stat(path, &status) == 0 else { throw Errno.last }
            guard FileStatus(status).kind == .folder else { throw Errno(rawValue: ENOTDIR) }
        case ENOENT:
            guard let slash = path.utf8.lastIndex(of: UInt8(ascii: "/")), slash > path.startIndex else {
                throw Errno(rawValue: ENOENT)
            }
            try makeFolders(String(path[..<slash]), permissions: permissions)
            // Somebody else may have made it meanwhile.
            guard mkdir(path, mode_t(permissions)) == 0 || errno == EEXIST else { throw Errno.last }
        default: throw Errno.last
        }
    }

    /// Returns why a folder is not ours alone; nil if it is.
    public static func fault(ofFolder path: String) throws(Errno) -> FileOwnership.Fault? {
        try check(path)
        // A link to a folder may be intended; the folder counts.
        let descriptor = try Descriptor.raised(open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC))
        defer { close(descriptor) }
        return try status(of: descriptor).ownership.fault(as: .folder, of: user)
    }

    static func status(of descriptor: Int32) throws(Errno) -> FileStatus {
        var status = stat()
        guard fstat(descriptor, &status) == 0 else { throw Errno.last }
        return FileStatus(status)
    }

    /// Returns once the names in a folder would survive a loss of power.
    public static func syncFolder(_ path: String) throws(Errno) {
        try check(path)
        let descriptor = try Descriptor.raised(open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC))
        defer { close(descriptor) }
        while fsync(descriptor) != 0 {
            // Not every file system does that for folders.
            if errno == EINVAL { return }
            if errno != EINTR { throw Errno.last }
        }
    }

    /// Returns the names in a folder, in no order, without those that are not UTF-8.
    public static func names(in folder: String) throws(Errno) -> [String] {
        try check(folder)
        let directory = try Descriptor.folder(folder)
        defer { closedir(directory) }
        var names: [String] = []
        while let entry = readdir(directory) {
            let name = withUnsafeBytes(of: &entry.pointee.d_name) { bytes in
                String(validating: bytes.prefix { $0 != 0 }, as: UTF8.self)
            }
            if let name, name != ".", name != ".." { names.append(name) }
        }
        return names
    }

    /// Returns the absolute path, which stays valid if the working directory changes.
    public static func absolute(_ path: String) throws(Errno) -> String {
        try check(path)
        if path.utf8.first == UInt8(ascii: "/") { return path }
        var buffer = [CChar](repeating: 0, count: 4096)
        guard getcwd(&buffer, buffer.count) != nil else { throw Errno.last }
        let folder = buffer.withUnsafeBytes { String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self) }
        return path.isEmpty ? folder : folder + "/" + path
    }

    /// The folder for files that need not last.
    public static var temporaryFolder: String {
        guard let value = getenv("TMPDIR") else { return "/tmp" }
        let path = String(cString: value)
        return path.utf8.first == UInt8(ascii: "/") ? path : "/tmp"
    }

    static func read(_ descriptor: Int32, at offset: Int, upTo count: Int) throws(Errno) -> [UInt8] {
        var outcome = 0
        var failure: Int32 = 0
        let bytes = [UInt8](unsafeUninitializedCapacity: count) { buffer, filled in
            repeat {
                outcome = pread(descriptor, buffer.baseAddress, count, off_t(offset))
                failure = outcome < 0 ? errno : 0
            } while failure == EINTR
            filled = max(outcome, 0)
        }
        if outcome < 0 { throw Errno(rawValue: failure) }
        return bytes
    }
}
