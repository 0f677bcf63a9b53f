internal import DunlinReactor
internal import DunlinSecure

/// The result of a read.
enum StreamInput: Equatable {
    /// Nothing yet; wait.
    case none
    /// Bytes have come; none at the end of the stream. `more`: another read need not wait first.
    case some(more: Bool)
}

/// Why a stream of bytes broke.
enum StreamError: Error {
    case system(Errno)
    case tls(TLSError)

    /// The cause, for a request's error.
    var cause: any Error {
        switch self {
        case .system(let errno): errno
        case .tls(let error): error
        }
    }
}
