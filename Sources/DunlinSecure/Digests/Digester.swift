internal import COpenSSL
public import DunlinTypes

/// Makes a digest of content that comes in pieces, by OpenSSL.
///
/// It owns its context and is not Sendable: its holder must keep its uses apart.
public struct Digester: ~Copyable {
    /// The error when OpenSSL cannot make such digests here: another provider is configured, or memory is out.
    public struct Unavailable: Error, Sendable, Hashable, CustomStringConvertible {
        public let algorithm: ContentDigest.Algorithm

        package init(algorithm: ContentDigest.Algorithm) {
            self.algorithm = algorithm
        }

        public var description: String { "OpenSSL cannot compute \(algorithm) digests" }
    }

    public let algorithm: ContentDigest.Algorithm
    private let context: OpaquePointer
    /// Whether a piece could not be processed; then there is no digest.
    private var isBroken = false

    public init(_ algorithm: ContentDigest.Algorithm) throws(Unavailable) {
        context = try Self.context(for: algorithm)
        self.algorithm = algorithm
    }

    private static func context(for algorithm: ContentDigest.Algorithm) throws(Unavailable) -> OpaquePointer {
        let context = EVP_MD_CTX_new()
        guard let context, EVP_DigestInit_ex(context, method(algorithm), nil) == 1 else {
            EVP_MD_CTX_free(context)
            OpenSSLErrors.clear()
            throw Unavailable(algorithm: algorithm)
        }
        return context
    }

    deinit { EVP_MD_CTX_free(context) }

    public mutating func update(_ bytes: UnsafeRawBufferPointer) {
        if EVP_DigestUpdate(context, bytes.baseAddress, bytes.count) != 1 { isBroken = true }
    }

    /// Returns the digest of all content.
    public consuming func finish() throws(Unavailable) -> ContentDigest {
        let bytes = [UInt8](unsafeUninitializedCapacity: Int(EVP_MAX_MD_SIZE)) { room, count in
            var length: UInt32 = 0
            let isDone = EVP_DigestFinal_ex(context, room.baseAddress, &length) == 1
            count = isDone ? Int(length) : 0
        }
        guard !isBroken, let digest = ContentDigest(algorithm, Bytes(bytes)) else {
            OpenSSLErrors.clear()
            throw Unavailable(algorithm: algorithm)
        }
        return digest
    }

    /// Returns the digest of whole content.
    public static func digest(
        of content: Bytes, _ algorithm: ContentDigest.Algorithm
    ) throws(Unavailable) -> ContentDigest {
        var digester = try Digester(algorithm)
        content.withUnsafeBytes { digester.update($0) }
        return try digester.finish()
    }

    private static func method(_ algorithm: ContentDigest.Algorithm) -> OpaquePointer? {
        switch algorithm {
        case .sha256: EVP_sha256()
        case .sha512: EVP_sha512()
        }
    }
}
