internal import Glibc

/// The owner of a file or folder, and who else may change it: whether its contents can be trusted to be what this
/// program left there.
///
/// Rules: it is ours if it is of the expected kind, belongs to the user that we act as, has no second name by which
/// somebody else could reach it, and neither its group nor others may write to it. The links of a folder are not
/// counted: it has as many as it has folders within.
///
/// It must not know paths. It is read from an open descriptor, because a name may be another file's the next moment.
public struct FileOwnership: Sendable, Hashable {
    /// The reason why a file or folder is not ours alone.
    public enum Fault: Error, Hashable {
        case kind
        case owner(UInt32)
        case links(Int)
        case group
        case others
    }

    public var kind: FileStatus.Kind
    public var owner: UInt32
    public var links: Int
    /// The permissions, the lower twelve bits of the mode.
    public var permissions: UInt32

    public init(kind: FileStatus.Kind, owner: UInt32, links: Int, permissions: UInt32) {
        self.kind = kind
        self.owner = owner
        self.links = links
        self.permissions = permissions
    }

    /// Returns why it is not a file or folder of this user alone; nil if it is.
    public func fault(as expected: FileStatus.Kind = .file, of user: UInt32) -> Fault? {
        if kind != expected { return .kind }
        if owner != user { return .owner(owner) }
        if kind == .file, links > 1 { return .links(links) }
        if permissions & Self.groupMayWrite != 0 { return .group }
        return permissions & Self.othersMayWrite != 0 ? .others : nil
    }

    private static var groupMayWrite: UInt32 { 0o020 }
    private static var othersMayWrite: UInt32 { 0o002 }

    /// Returns the permissions without those for others to write.
    public static func closed(_ permissions: UInt32) -> UInt32 { permissions & ~(groupMayWrite | othersMayWrite) }
}

extension FileSystem {
    /// The user that we act as.
    public static var user: UInt32 { geteuid() }
}
