internal import COpenSSL

/// OpenSSL's error queue, which belongs to the thread: whoever calls empties it before, and takes what is there after,
/// so that no connection reads another's errors.
enum OpenSSLErrors {
    static func clear() {
        ERR_clear_error()
    }

    /// The first error of the last call, and the queue is empty again. Zero when there is none.
    static func take() -> UInt {
        let code = ERR_get_error()
        if code != 0 { ERR_clear_error() }
        return code
    }
}
