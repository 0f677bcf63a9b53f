internal import DunlinSecure

extension ContentDigest {
    /// Computes the digest of `content`.
    ///
    /// ```swift
    /// let digest = try ContentDigest(.sha256, of: order)
    /// ```
    ///
    /// Throws `NetworkError` with code `invalidConfiguration` if OpenSSL is configured without the algorithm.
    public init(_ algorithm: ContentDigest.Algorithm, of content: Bytes) throws {
        do throws(Digester.Unavailable) {
            self = try Digester.digest(of: content, algorithm)
        } catch {
            throw NetworkError(.invalidConfiguration, "\(error)", underlying: error)
        }
    }
}
