package import DunlinReactor
internal import DunlinTypes

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
        /// The disk takes too long; requests go on without it for as long as it does.
        case slowness
        /// OpenSSL makes no SHA-256 here, which files are named by.
        case names
    }

    package let kind: Kind
    package let folder: String

    package var description: String {
        switch kind {
        case .foreign: "Other users own or can write to the cache folder \(folder); nothing is stored there"
        case .folder(let errno): "The cache folder \(folder) cannot be used: \(errno)"
        case .reading(let errno): "The cache in \(folder) cannot be read: \(errno)"
        case .writing(let errno): "The cache in \(folder) cannot be written: \(errno)"
        case .damage: "A file of the cache in \(folder) was damaged, and was removed"
        case .slowness: "The disk of the cache in \(folder) does not respond in time; requests go on without the cache"
        case .names: "OpenSSL cannot compute SHA-256; nothing is stored in \(folder)"
        }
    }
}

/// Why a body that is stored, or begins with what is, does not come to its end.
package struct CacheDamage: Error, Sendable, Hashable, CustomStringConvertible {
    package enum Kind: Sendable, Hashable {
        /// Its bytes are not those that were stored, or cannot be read any more.
        case bytes
        /// It was replaced or removed before it was first read.
        case absence
        /// The store takes too long.
        case slowness
        /// What the network brought is not the rest of it.
        case rest
    }

    package let kind: Kind

    package init(_ kind: Kind = .bytes) {
        self.kind = kind
    }

    package var description: String {
        switch kind {
        case .bytes: "the stored body is damaged"
        case .absence: "the stored body was removed before it was read"
        case .slowness: "timed out waiting for the disk of the cache"
        case .rest: "the response is not the rest of the stored body"
        }
    }
}
