internal import COpenSSL

/// A stamp that changes when a file does: written in place, or replaced by another, even one with an equal date.
struct FileStamp: Hashable, Sendable {
    private let modified: Moment
    private let changed: Moment
    private let size: Int64
    private let node: UInt64
    private let device: UInt64
    let isOfRegularFile: Bool

    private struct Moment: Hashable, Sendable {
        let seconds: Int
        let nanoseconds: Int

        init(_ time: timespec) {
            seconds = Int(time.tv_sec)
            nanoseconds = Int(time.tv_nsec)
        }
    }

    /// Creates a file's stamp; nil if there is no such file.
    init?(path: String) {
        var facts = stat()
        guard stat(path, &facts) == 0 else { return nil }
        modified = Moment(facts.st_mtim)
        changed = Moment(facts.st_ctim)
        size = Int64(facts.st_size)
        node = UInt64(facts.st_ino)
        device = UInt64(facts.st_dev)
        isOfRegularFile = facts.st_mode & UInt32(S_IFMT) == UInt32(S_IFREG)
    }
}
