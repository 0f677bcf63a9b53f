internal import DunlinReactor
internal import DunlinSecure

/// What a read came to.
enum StreamInput: Equatable {
    /// Nothing yet: wait.
    case none
    /// Bytes, or the end of the stream if there are none. `more` tells that another read need not wait first.
    case some(more: Bool)
}

/// Why a stream of bytes broke.
enum StreamError: Error {
    case system(Errno)
    case tls(TLSError)
}
