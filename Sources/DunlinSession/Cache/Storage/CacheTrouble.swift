package import DunlinReactor

/// Why a cache stores less than it might, or nothing: told once, as a warning. Requests go on without it.
package struct CacheTrouble: Error, Sendable, Hashable, CustomStringConvertible {
    package enum Kind: Sendable, Hashable {
        /// The folder belongs to others, or others may write to it: what is in it is not believed.
        case foreign(FileOwnership.Fault)
        /// The folder cannot be made or listed.
        case folder(Errno)
        /// Files in it cannot be read.
        case reading(Errno)
        /// Files in it cannot be written, for want of room or of permission.
        case writing(Errno)
        /// Something was not what had been written, and was removed.
        case damage
        /// OpenSSL makes no SHA-256 here, which files are named by.
        case names
    }

    package let kind: Kind
    package let folder: String

    package var description: String {
        switch kind {
        case .foreign: "The cache's folder \(folder) is not this user's alone; nothing is stored there"
        case .folder(let errno): "The cache's folder \(folder) cannot be used: \(errno)"
        case .reading(let errno): "The cache in \(folder) cannot be read: \(errno)"
        case .writing(let errno): "The cache in \(folder) cannot be written: \(errno)"
        case .damage: "A file of the cache in \(folder) was damaged, and was removed"
        case .names: "OpenSSL makes no SHA-256; nothing is stored in \(folder)"
        }
    }
}

/// Bytes of a stored body are not those that were stored, or cannot be read any more.
package struct CacheDamage: Error, Sendable, Hashable, CustomStringConvertible {
    package init() {}

    package var description: String { "the stored body is damaged" }
}
