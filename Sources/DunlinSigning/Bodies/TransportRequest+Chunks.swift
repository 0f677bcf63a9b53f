internal import Dunlin

extension TransportRequest {
    /// The body's length before it is framed. Throws if it is not known, since the server must be told.
    func decodedLength() throws -> Int {
        if body.trailers != nil {
            throw NetworkError(
                .invalidRequest,
                "a body with trailers cannot be signed by chunks; use `.signed` or `.unsigned`, or leave them out")
        }
        guard let length = try body.pieces().length else {
            throw NetworkError(
                .invalidRequest,
                "a stream without a length cannot be signed by chunks; pass its `length:`, or use `.signed` or "
                    + "`.unsigned`")
        }
        return length
    }

    /// The body, of `length` bytes, in chunks that are signed one after the other.
    func chunked(_ length: Int, by size: Int, _ signer: ChunkSigner) throws -> TransportRequest {
        let pieces = try body.pieces()
        guard let make = pieces.make, let framed = ChunkSigner.framedLength(length, size: size) else {
            throw NetworkError(.invalidRequest, "the body cannot be signed by chunks: there is none, or it is too long")
        }
        return with {
            $0.body = body.with(
                .stream(length: framed, isReplayable: pieces.isReplayable) {
                    SignedChunks(chunks: make(), size: size, signer: signer)
                })
        }
    }
}

extension RequestHead {
    /// Says that the body is framed in chunks, and how long it is without their frames.
    mutating func announceChunks(of length: Int) {
        fields["X-Amz-Decoded-Content-Length"] = String(length)
        let codings = fields.values(of: "Content-Encoding")
        if codings.first?.hasPrefix("aws-chunked") == true { return }
        fields["Content-Encoding"] = (["aws-chunked"] + codings).joined(separator: ",")
    }
}
