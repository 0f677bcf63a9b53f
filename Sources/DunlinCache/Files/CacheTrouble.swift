package import DunlinReactor
internal import DunlinTypes

/// Why a cache stores less than it could, or nothing: reported once, as a warning. Requests go on without it.
package struct CacheTrouble: Error, Sendable, Hashable, CustomStringConvertible {
    package enum Kind: Sendable, Hashable {
        /// The folder belongs to others, or others may write to it: its contents are not trusted.
        case ownedByOthers(FileOwnership.Fault)
        /// The folder cannot be created or listed.
        case folder(Errno)
        /// Files in it cannot be read.
        case reading(Errno)
        /// Files in it cannot be written, for lack of space or permission.
        case writing(Errno)
        /// Files are written more slowly than responses come, and no more responses may wait.
        case backlog
        /// Stored bytes had changed, and were removed.
        case damage
        /// The disk takes too long; meanwhile requests do without it.
        case slowness
        /// OpenSSL has no SHA-256 here, which names the files.
        case names
    }

    package let kind: Kind
    package let folder: String

    package var description: String {
        switch kind {
        case .ownedByOthers(let fault): "\(fault.saying(folder)); nothing is stored there"
        case .folder(let errno): "The cache folder \(folder) cannot be used: \(errno)"
        case .reading(let errno): "The cache in \(folder) cannot be read: \(errno)"
        case .writing(let errno): "The cache in \(folder) cannot be written: \(errno)"
        case .backlog:
            "The cache in \(folder) cannot be written as fast as responses come; some of them are not stored"
        case .damage: "A file of the cache in \(folder) was damaged, and was removed"
        case .slowness: "The disk of the cache in \(folder) does not respond in time; requests go on without the cache"
        case .names: "OpenSSL cannot compute SHA-256; nothing is stored in \(folder)"
        }
    }
}

extension FileOwnership.Fault {
    /// What is wrong with a cache's folder, and what to do.
    fileprivate func saying(_ folder: String) -> String {
        switch self {
        case .kind: "\(folder), the path of the cache folder, is no folder: remove it, or choose another path"
        case .owner(let user):
            "The cache folder \(folder) belongs to user \(user): chown it to the user of this program, or choose "
                + "another folder"
        case .group: "The group of the cache folder \(folder) may write to it: forbid that by chmod g-w"
        case .others, .links: "Every user may write to the cache folder \(folder): forbid that by chmod o-w"
        }
    }
}

/// Why a body that is stored, wholly or in its first part, cannot be read to its end.
package struct CacheDamage: Error, Sendable, Hashable, CustomStringConvertible {
    package enum Kind: Sendable, Hashable {
        /// Its bytes have changed, or can no longer be read.
        case bytes
        /// It was replaced or removed before it was first read.
        case absence
        /// The store takes too long.
        case slowness
        /// The network brought something other than its rest.
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
        case .rest: "the response does not continue the stored part of the body"
        }
    }
}
