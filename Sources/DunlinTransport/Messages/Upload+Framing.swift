internal import DunlinTypes
internal import DunlinWire

extension Upload {
    /// A part of a body, framed as one chunk.
    static func framed(_ chunk: Bytes) -> Bytes {
        var framed: [UInt8] = []
        framed.reserveCapacity(chunk.count + 20)
        ChunkEncoder.append(chunk, into: &framed)
        return Bytes(framed)
    }
}

/// Checks on bodies, piece by piece.
extension ExchangeContext {
    /// Counts a piece. Throws if there is more than was announced.
    func count(_ more: Int, of length: Int?, _ sent: inout Int, _ hop: HTTP.Hop) throws {
        if let length, more > length - sent { throw mismatch("more than the \(length) bytes announced", hop) }
        sent += more
    }

    /// Throws after the last piece if there was less than was announced.
    func checkEnd(after sent: Int, of length: Int?, _ hop: HTTP.Hop) throws {
        guard let length, sent < length else { return }
        throw mismatch("\(sent) bytes, fewer than the \(length) announced", hop)
    }

    /// The last chunk, with the trailers.
    func end(of body: RequestBody, _ hop: HTTP.Hop) async throws -> Bytes {
        let trailers = try await body.trailers?.make() ?? Fields()
        var end: [UInt8] = []
        do throws(WireError) {
            try ChunkEncoder.appendEnd(trailers: trailers, into: &end)
        } catch {
            throw self.error(.invalidRequest, "the trailers cannot be sent", in: .send, hop, cause: error)
        }
        return Bytes(end)
    }

    private func mismatch(_ reason: String, _ hop: HTTP.Hop) -> NetworkError {
        error(.bodyLengthMismatch, "the request body has \(reason)", in: .send, hop)
    }
}

extension NetworkError.Code {
    /// Whether the request's own body is at fault.
    var blamesTheBody: Bool { self == .bodyLengthMismatch || self == .fileUnreadable }
}
