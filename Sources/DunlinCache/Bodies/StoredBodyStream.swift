internal import DunlinReactor
package import DunlinTransport
package import DunlinTypes
internal import Synchronization

/// A stored body, read piece by piece on demand, within the limits of the call. It pauses while the call is suspended,
/// and is counted as a body from the network is.
package final class StoredBodyStream: TransportResponse.BodyStream {
    private struct State {
        var rest: Range<Int>
        /// The first piece, which was read ahead.
        var first: Bytes?
        var hop: HTTP.Hop
    }

    private let body: any StoredBody
    private let length: Int
    private let wait: StoreWait
    /// The call's control; nil for a call without observers, and where somebody else counts.
    private let control: TransferControl?
    private let state: Mutex<State>

    /// Creates a stream of a part of a body; `range` counts from the body's first stored byte.
    package init(
        _ body: any StoredBody, _ range: Range<Int>, _ hop: HTTP.Hop, within wait: StoreWait,
        control: TransferControl? = nil
    ) {
        (self.body, self.wait, self.control) = (body, wait, control)
        length = range.count
        state = Mutex(State(rest: range, hop: hop))
    }

    private static var piece: Int { 128 * 1024 }

    /// Reads the first piece ahead, so that an unreadable body is noticed before anybody gets its head.
    package func begin() async throws {
        let rest = state.withLock(\.rest)
        if rest.isEmpty { return }
        let first = try await read(rest)
        state.withLock { $0.first = first }
    }

    package func next() async throws -> Bytes? {
        let (rest, first) = state.withLock { state in (state.rest, state.first.take()) }
        if rest.isEmpty { return nil }
        let passage = await control?.pass(until: wait.deadline)
        try wait.check()
        if passage == .cancelled { throw CancellationError() }
        let piece = if let first { first } else { try await read(rest) }
        let count = state.withLock { state in
            state.rest = rest.lowerBound + piece.count..<rest.upperBound
            state.hop.bodyBytes += piece.count
            state.hop.decodedBytes += piece.count
            if state.rest.isEmpty { state.hop.ended = wait.loop.now() }
            return length - state.rest.count
        }
        control?.received(upTo: count)
        return piece
    }

    private func read(_ rest: Range<Int>) async throws -> Bytes {
        do {
            return try await body.read(from: rest.lowerBound, upTo: min(rest.count, Self.piece), within: wait)
        } catch {
            try wait.check()
            throw NetworkError(
                .cacheUnreadable, "the stored body cannot be read: \(error)", phase: .receive, isSafeToRetry: true,
                underlying: error)
        }
    }

    package var expectedLength: Int? { length }
    package var trailers: Fields { Fields() }
    /// The hop, with how it spent its time.
    package var hop: HTTP.Hop { state.withLock(\.hop) }
}
