internal import COpenSSL

/// OpenSSL's error queue, one for each thread: callers clear it before a call and take the error after it, so that no
/// connection reads another's errors.
enum OpenSSLErrors {
    /// A look costs less than clearing, and there is hardly ever an error.
    @inline(__always)
    static func clear() {
        if ERR_peek_error() != 0 { ERR_clear_error() }
    }

    /// Returns the last call's error and clears the queue. Of several it is TLS's first one: what that says of the peer
    /// matters more than a cipher's or decoder's complaint.
    static func take() -> UInt {
        var first: UInt = 0
        var own: UInt = 0
        while case let code = ERR_get_error(), code != 0 {
            if first == 0 { first = code }
            if own == 0, dunlin_error_library(code) == ERR_LIB_SSL { own = code }
        }
        return own != 0 ? own : first
    }

    /// Returns the latest error, the outermost reader's, and clears the queue.
    static func takeLast() -> UInt {
        let code = ERR_peek_last_error()
        clear()
        return code
    }

    /// Returns OpenSSL's words for an error: constant text, never a part of the input.
    static func words(_ code: UInt) -> String {
        ERR_reason_error_string(code).map { String(cString: $0) } ?? "no reason given"
    }

    /// Returns the words for a system call's error, which `words` does not have. They stand after the last colon.
    static func systemWords(_ code: UInt) -> String {
        var text = [CChar](repeating: 0, count: 256)
        ERR_error_string_n(code, &text, text.count)
        let line = String(decoding: text.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
        return line.split(separator: ":").last.map { String($0) } ?? "no reason given"
    }
}
