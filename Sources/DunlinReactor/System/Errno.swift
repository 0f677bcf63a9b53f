internal import Glibc

/// A failed system call: the kernel's own number, with its own words.
public struct Errno: Error, Sendable, Hashable, CustomStringConvertible {
    public let rawValue: Int32

    public init(rawValue: Int32) {
        self.rawValue = rawValue
    }

    public static let connectionReset = Errno(rawValue: ECONNRESET)
    public static let isDirectory = Errno(rawValue: EISDIR)
    public static let exists = Errno(rawValue: EEXIST)
    public static let noSuchFile = Errno(rawValue: ENOENT)
    /// What is there is not ours alone.
    public static let notOurs = Errno(rawValue: EPERM)
    public static let cancelled = Errno(rawValue: ECANCELED)
    public static let noWay = Errno(rawValue: ENETUNREACH)

    /// Of a call that takes from a file and gives to a socket: it was the file that failed.
    public var isFileFault: Bool {
        switch rawValue {
        case EIO, ESTALE, ENXIO, EOVERFLOW: true
        default: false
        }
    }

    /// There is no way to the peer's network, whoever the peer is.
    public var meansNoNetwork: Bool { rawValue == ENETUNREACH || rawValue == ENETDOWN }

    /// Nobody answered on the way, or this machine has no address to be answered at. There may be no network.
    public var mayMeanNoNetwork: Bool {
        switch rawValue {
        case EHOSTUNREACH, EHOSTDOWN, ETIMEDOUT, EADDRNOTAVAIL, ENODEV: true
        default: meansNoNetwork
        }
    }

    public var meansNoSuchFile: Bool { rawValue == ENOENT || rawValue == ENOTDIR }
    public var meansDirectory: Bool { rawValue == EISDIR }
    /// There is something by that name.
    public var meansExisting: Bool { rawValue == EEXIST }
    public var meansOtherFileSystem: Bool { rawValue == EXDEV }
    /// Somebody else has it.
    public var meansLocked: Bool { rawValue == EWOULDBLOCK }

    /// What is there is no file of ours: it belongs to others, may be changed by them, or is no file.
    public var meansForeign: Bool {
        switch rawValue {
        case EPERM, EACCES, ELOOP, EISDIR, EINVAL, ENXIO: true
        default: false
        }
    }

    /// The file system knows no locks.
    public var meansNoLocks: Bool { rawValue == ENOLCK || rawValue == EOPNOTSUPP }

    /// There is no more room for anybody, for this user, or for a file this large.
    public var meansNoSpace: Bool {
        switch rawValue {
        case ENOSPC, EDQUOT, EFBIG: true
        default: false
        }
    }

    /// The peer had ended the connection in good order before something was written to it.
    public var meansEndedBefore: Bool { rawValue == EPIPE }

    /// The kernel does not do such a thing with such descriptors; another way may do.
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
