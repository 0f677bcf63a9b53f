internal import DunlinSecure

extension TransportRequest {
    /// Returns the digest of the body, and the request to send with it, for services that want the body signed.
    ///
    /// ```swift
    /// let (request, digest) = try await request.digested(by: .sha256)
    /// ```
    ///
    /// A file or a replayable stream is read once for the digest and again for sending. A stream that can be read once
    /// is collected in memory and replaces the body of the returned request; if it is longer than `limit` bytes, a
    /// `NetworkError` with code `limitExceeded` is thrown. An interceptor around a call does this once, and the body
    /// can then be sent again; one around an exchange does it for that exchange only. Trailers are not part of the
    /// digest.
    public func digested(
        by algorithm: ContentDigest.Algorithm, keepingUpTo limit: Int = 16 << 20
    ) async throws -> (request: TransportRequest, digest: ContentDigest) {
        switch body.content {
        case .none: return (self, try ContentDigest(algorithm, of: .empty))
        case .bytes(let bytes): return (self, try BodyDigest.of(bytes, algorithm))
        case .file, .stream(_, isReplayable: true, _):
            return (self, try await BodyDigest.read(body, algorithm))
        case .stream(_, isReplayable: false, _):
            guard body.canBeSent else {
                throw NetworkError(
                    .bodyNotReplayable, "the body can be read once only, and was read already", isSafeToRetry: false)
            }
            let bytes = try await BodyDigest.collect(body, upTo: limit)
            return (with { $0.body = body.with(.bytes(bytes)) }, try ContentDigest(algorithm, of: bytes))
        }
    }
}

/// Computes the digests of bodies piece by piece.
private enum BodyDigest {
    /// Digests bytes in steps, so that a cancel can end it.
    static func of(_ bytes: Bytes, _ algorithm: ContentDigest.Algorithm) throws -> ContentDigest {
        do {
            let hash = try HashFunction(algorithm).hash(of: bytes) { try Task.checkCancellation() }
            guard let digest = ContentDigest(algorithm, hash) else { throw Digester.Unavailable(algorithm: algorithm) }
            return digest
        } catch  where error is HashFunction.Unavailable || error is Digester.Unavailable {
            throw NetworkError(.invalidConfiguration, "\(error)", underlying: error)
        }
    }

    static func read(_ body: RequestBody, _ algorithm: ContentDigest.Algorithm) async throws -> ContentDigest {
        do {
            guard let make = try body.pieces().make else { return try ContentDigest(algorithm, of: .empty) }
            return try await read(make(), algorithm)
        } catch let error as Digester.Unavailable {
            throw NetworkError(.invalidConfiguration, "\(error)", underlying: error)
        }
    }

    private static func read(
        _ chunks: some RequestBody.Chunks, _ algorithm: ContentDigest.Algorithm
    ) async throws -> ContentDigest {
        var digester = try Digester(algorithm)
        for try await chunk in chunks { chunk.withUnsafeBytes { digester.update($0) } }
        try Task.checkCancellation()
        return try digester.finish()
    }

    static func collect(_ body: RequestBody, upTo limit: Int) async throws -> Bytes {
        let pieces = try body.pieces()
        guard let make = pieces.make else { return .empty }
        let bytes = try await collect(make(), upTo: limit)
        guard let length = pieces.length, length != bytes.count else { return bytes }
        throw NetworkError(
            .bodyLengthMismatch, "the body was announced with \(length) bytes, but has \(bytes.count)")
    }

    private static func collect(_ chunks: some RequestBody.Chunks, upTo limit: Int) async throws -> Bytes {
        var whole: [UInt8] = []
        for try await chunk in chunks {
            guard whole.count + chunk.count <= limit else {
                throw NetworkError(
                    .limitExceeded,
                    "the body can be read once only, and has more than the \(limit) bytes that are kept for its digest")
            }
            whole.append(contentsOf: chunk)
        }
        try Task.checkCancellation()
        return Bytes(whole)
    }
}
