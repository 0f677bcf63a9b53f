internal import COpenSSL

/// Why a certificate, a key, or something related could not be made, in OpenSSL's words.
public struct AuthorityError: Error, Sendable, Hashable, CustomStringConvertible {
    public enum Operation: Sendable, Hashable {
        case makingKey, readingKey, writingKey, signing, hashing, exporting, preparingTLS
        /// A name constraint is neither a name nor a network.
        case readingName
    }

    public let operation: Operation
    public let detail: String

    public var description: String { "\(operation) failed: \(detail)" }

    init(_ operation: Operation, _ detail: String) {
        self.operation = operation
        self.detail = detail
    }

    /// Takes the reason from this thread's error queue, which is empty afterwards.
    init(_ operation: Operation) {
        self.init(operation, LastOpenSSLError.take() ?? "no reason given")
    }
}

enum LastOpenSSLError {
    /// The first error in this thread's queue, which is the cause of the others. The queue is empty afterwards.
    static func take() -> String? {
        let code = ERR_get_error()
        ERR_clear_error()
        guard code != 0 else { return nil }
        if let reason = ERR_reason_error_string(code) { return String(cString: reason) }
        return withUnsafeTemporaryAllocation(of: CChar.self, capacity: 256) { buffer in
            ERR_error_string_n(code, buffer.baseAddress, buffer.count)
            return buffer.baseAddress.map { String(cString: $0) }
        }
    }
}
