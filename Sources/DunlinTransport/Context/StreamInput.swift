internal import DunlinReactor
internal import DunlinSecure

/// The result of a read.
enum StreamInput: Equatable {
    /// Nothing yet: wait.
    case none
    /// Bytes have come, or the end of the stream if there are none. `more`: another read need not wait first.
    case some(more: Bool)
}

/// Why a stream of bytes broke.
enum StreamError: Error {
    case system(Errno)
    case tls(TLSError)

    /// What it was, for the error of a request.
    var cause: any Error {
        switch self {
        case .system(let errno): errno
        case .tls(let error): error
        }
    }
}
