internal import COpenSSL

/// OpenSSL's error queue, which belongs to the thread: whoever calls empties it before, and takes what is there after,
/// so that no connection reads another's errors.
enum OpenSSLErrors {
    /// A look costs less than the sweep, and there is hardly ever anything to sweep.
    @inline(__always)
    static func clear() {
        if ERR_peek_error() != 0 { ERR_clear_error() }
    }

    /// What the last call complained of, and the queue is empty again. Of several complaints TLS's own first one: what
    /// it says of the peer matters more than what a cipher or a decoder said of the bytes.
    static func take() -> UInt {
        var first: UInt = 0
        var own: UInt = 0
        while case let code = ERR_get_error(), code != 0 {
            if first == 0 { first = code }
            if own == 0, dunlin_error_library(code) == ERR_LIB_SSL { own = code }
        }
        return own != 0 ? own : first
    }

    /// The latest complaint, the outermost reader's, and the queue is empty again.
    static func takeLast() -> UInt {
        let code = ERR_peek_last_error()
        clear()
        return code
    }

    /// OpenSSL's words for a complaint: constant text, never a part of the input.
    static func words(_ code: UInt) -> String {
        ERR_reason_error_string(code).map { String(cString: $0) } ?? "no reason given"
    }
}
