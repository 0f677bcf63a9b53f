internal import DunlinTypes
internal import Synchronization

/// A response body whose pieces are made as they are asked for: nothing is made ahead of the reader.
final class MockBody: TransportResponse.BodyStream {
    private enum State {
        case idle(next: Int)
        case reading
        case ended
        case failed(any Error)
    }

    let expectedLength: Int?
    private let finalTrailers: Fields
    private let piece: MockTransport.Outcome.Piece
    private let state = Mutex(State.idle(next: 0))

    init(length: Int?, trailers: Fields, _ piece: @escaping MockTransport.Outcome.Piece) {
        expectedLength = length
        finalTrailers = trailers
        self.piece = piece
    }

    var hop: HTTP.Hop { HTTP.Hop() }

    var trailers: Fields {
        state.withLock { if case .ended = $0 { finalTrailers } else { Fields() } }
    }

    func next() async throws -> Bytes? {
        guard let index = try begin() else { return nil }
        do {
            try Task.checkCancellation()
            let bytes = try await piece(index)
            state.withLock { $0 = bytes == nil ? .ended : .idle(next: index + 1) }
            return bytes
        } catch {
            state.withLock { $0 = .failed(error) }
            throw error
        }
    }

    /// The number of the piece to make; nil at the end.
    private func begin() throws -> Int? {
        try state.withLock { state in
            switch state {
            case .idle(let index):
                state = .reading
                return index
            case .reading:
                throw NetworkError(.bodyConsumed, "the body is already being read by another task", phase: .receive)
            case .ended: return nil
            case .failed(let error): throw error
            }
        }
    }
}
