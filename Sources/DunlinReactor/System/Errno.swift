internal import Glibc

/// The error of a system call: the kernel's number, with its own words.
public struct Errno: Error, Sendable, Hashable, CustomStringConvertible {
    public let rawValue: Int32

    public init(rawValue: Int32) {
        self.rawValue = rawValue
    }

    public static let connectionReset = Errno(rawValue: ECONNRESET)
    public static let isDirectory = Errno(rawValue: EISDIR)
    public static let exists = Errno(rawValue: EEXIST)
    public static let noSuchFile = Errno(rawValue: ENOENT)
    /// The file is not ours alone.
    public static let notOurs = Errno(rawValue: EPERM)
    public static let cancelled = Errno(rawValue: ECANCELED)
    public static let noWay = Errno(rawValue: ENETUNREACH)

    /// Whether a call that sends from a file to a socket failed because of the file.
    public var isFileFault: Bool {
        switch rawValue {
        case EIO, ESTALE, ENXIO, EOVERFLOW: true
        default: false
        }
    }

    /// Whether there is no route to the peer's network, whoever the peer is.
    public var meansNoNetwork: Bool { rawValue == ENETUNREACH || rawValue == ENETDOWN }

    /// Whether there may be no network: nobody answered on the way, or this machine has no address to be answered at.
    public var mayMeanNoNetwork: Bool {
        switch rawValue {
        case EHOSTUNREACH, EHOSTDOWN, ETIMEDOUT, EADDRNOTAVAIL, ENODEV: true
        default: meansNoNetwork
        }
    }

    public var meansNoSuchFile: Bool { rawValue == ENOENT || rawValue == ENOTDIR }
    public var meansDirectory: Bool { rawValue == EISDIR }
    /// Whether it is something else than a regular file, as `OpenFile` says it.
    public var meansNoFile: Bool { rawValue == EINVAL }
    /// Whether there is something by that name already.
    public var meansExisting: Bool { rawValue == EEXIST }
    public var meansOtherFileSystem: Bool { rawValue == EXDEV }
    /// Whether somebody else has it locked.
    public var meansLocked: Bool { rawValue == EWOULDBLOCK }

    /// Whether it is not our file: it belongs to others, may be changed by them, or is no file.
    public var meansNotOurs: Bool {
        switch rawValue {
        case EPERM, EACCES, ELOOP, EISDIR, EINVAL, ENXIO: true
        default: false
        }
    }

    /// Whether the file system has no locks.
    public var meansNoLocks: Bool { rawValue == ENOLCK || rawValue == EOPNOTSUPP }

    /// Whether there is no room left: at all, for this user, or for a file this large.
    public var meansNoSpace: Bool {
        switch rawValue {
        case ENOSPC, EDQUOT, EFBIG: true
        default: false
        }
    }

    /// Whether the peer had ended the connection in good order before something was written to it.
    public var meansEndedBefore: Bool { rawValue == EPIPE }

    /// Whether the kernel cannot do this with such descriptors; another way may work.
    public var meansUnsupported: Bool {
        switch rawValue {
        case EINVAL, ENOSYS, EOPNOTSUPP: true
        default: false
        }
    }

    /// The calling thread's `errno`.
    public static var last: Errno { Errno(rawValue: errno) }

    public var description: String {
        var text = [CChar](repeating: 0, count: 128)
        guard strerror_r(rawValue, &text, text.count) == 0 else { return "errno \(rawValue)" }
        return text.withUnsafeBytes { String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self) }
    }
}
