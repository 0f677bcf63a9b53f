internal import DunlinTransport
internal import DunlinTypes
internal import Synchronization

/// A response body whose pieces are made on demand and not ahead of the reader. It is read from the bytes that a server
/// would send for the pieces.
final class MockBody: TransportResponse.BodyStream {
    private enum State {
        case idle(next: Int, CheckedBody)
        case reading
        case ended(trailers: Fields)
        case failed(any Error)
    }

    let expectedLength: Int?
    private let lastTrailers: Fields
    private let piece: MockTransport.Outcome.Piece
    private let state: Mutex<State>
    /// The hop, as far as the body was read.
    private let latest: Mutex<HTTP.Hop>

    init(_ body: CheckedBody, _ trailers: Fields, _ piece: @escaping MockTransport.Outcome.Piece) {
        expectedLength = body.expectedLength
        lastTrailers = trailers
        self.piece = piece
        state = Mutex(.idle(next: 0, body))
        latest = Mutex(body.hop)
    }

    var hop: HTTP.Hop { latest.withLock { $0 } }

    var trailers: Fields {
        state.withLock { if case .ended(let trailers) = $0 { trailers } else { Fields() } }
    }

    func next() async throws -> Bytes? {
        guard let (index, body) = try begin() else { return nil }
        do {
            let (bytes, state) = try await read(index, body)
            self.state.withLock { $0 = state }
            return bytes
        } catch {
            state.withLock { $0 = .failed(error) }
            throw error
        }
    }

    /// The next bytes of the body, and the state after them; nil at the end.
    private func read(_ first: Int, _ body: CheckedBody) async throws -> (Bytes?, State) {
        var (index, body) = (first, body)
        defer { latest.withLock { $0 = body.hop } }
        while !body.isFinished {
            try Task.checkCancellation()
            let (number, piece) = (index, piece)
            let made = try await body.wait { try await piece(number) }
            index += 1
            guard let made else {
                try end(&body)
                break
            }
            if made.isEmpty { continue }
            let bytes = try body.take(body.isChunked ? LoopbackServer.Message.chunk(made) : made)
            if !bytes.isEmpty { return (bytes, .idle(next: index, body)) }
        }
        return (nil, .ended(trailers: body.trailers))
    }

    private func end(_ body: inout CheckedBody) throws {
        if body.isChunked { _ = try body.take(LoopbackServer.Message.lastChunk(lastTrailers)) }
        try body.end()
    }

    /// The number of the next piece, and what its bytes pass through; nil at the end.
    private func begin() throws -> (Int, CheckedBody)? {
        try state.withLock { state in
            switch state {
            case .idle(let index, let body):
                state = .reading
                return (index, body)
            case .reading:
                throw NetworkError(.bodyConsumed, "the body is already being read by another task", phase: .receive)
            case .ended: return nil
            case .failed(let error): throw error
            }
        }
    }
}
