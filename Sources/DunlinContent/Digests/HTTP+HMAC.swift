internal import DunlinSecure

extension HTTP {
    /// Message authentication codes (HMAC, RFC 2104), which prove that a message is from a holder of the key. Many
    /// services want requests signed this way.
    ///
    /// ```swift
    /// let signature = try HTTP.HMAC(.sha256, key: key).code(of: order)
    /// try await client.post(
    ///     "orders", fields: ["X-Signature": signature.hex],
    ///     body: .bytes(order, contentType: "application/json"))
    /// ```
    ///
    /// No description shows the key.
    public struct HMAC: Sendable {
        public let algorithm: ContentDigest.Algorithm
        private let key: Bytes

        public init(_ algorithm: ContentDigest.Algorithm, key: Bytes) {
            self.algorithm = algorithm
            self.key = key
        }

        /// Returns the code of a message, as long as the algorithm's digest.
        ///
        /// Throws `NetworkError` with code `invalidConfiguration` if OpenSSL is configured without the algorithm.
        public func code(of message: Bytes) throws -> Bytes {
            do throws(HashFunction.Unavailable) {
                return try HashFunction(algorithm).code(of: message, key: key)
            } catch {
                throw NetworkError(.invalidConfiguration, "\(error)", underlying: error)
            }
        }

        /// Returns whether this is the message's code, as the receiver of a webhook checks. The time it takes does not
        /// show how much of a wrong code is right.
        public func isCode(_ code: Bytes, of message: Bytes) throws -> Bool {
            let own = try self.code(of: message)
            return own.count == code.count && zip(own, code).reduce(UInt8(0)) { $0 | ($1.0 ^ $1.1) } == 0
        }
    }
}

extension HTTP.HMAC: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    public var description: String { "HMAC by \(algorithm)" }
    public var debugDescription: String { description }
    public var customMirror: Mirror { Mirror(self, children: []) }
}

extension HashFunction {
    init(_ algorithm: ContentDigest.Algorithm) {
        switch algorithm {
        case .sha256: self = .sha256
        case .sha512: self = .sha512
        }
    }
}
