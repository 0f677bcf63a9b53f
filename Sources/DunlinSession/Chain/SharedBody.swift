internal import DunlinReactor
internal import Synchronization

/// A body that is received into memory as fast as it comes, for its reader and for others who get it whole.
///
/// Once it turns out to be longer than `limit` it is the reader's alone: nothing more is received than the reader asks
/// for. A reader who leaves ends it, unless others wait.
final class SharedBody: TransportResponse.BodyStream {
    private let source: Source
    private let stream: any TransportResponse.BodyStream

    /// `finished` is told once, with all bytes, or with nil if it is not to be shared.
    init(
        _ stream: any TransportResponse.BodyStream, upTo limit: Int, on loop: Reactor,
        isAwaited: @escaping @Sendable () -> Bool, finished: @escaping @Sendable (Bytes?) -> Void
    ) {
        self.stream = stream
        source = Source(limit: limit, isAwaited: isAwaited, finished: finished)
        Task(executorPreference: loop) { [source] in await source.receive(from: stream) }
    }

    deinit {
        source.leave()
    }

    func next() async throws -> Bytes? {
        while true {
            switch source.take() {
            case .bytes(let bytes): return bytes
            case .end: return nil
            case .failure(let error): throw error
            case .direct: return try await stream.next()
            case .nothing: await source.wait()
            }
        }
    }

    var expectedLength: Int? { stream.expectedLength }
    var trailers: Fields { stream.trailers }
    var hop: HTTP.Hop { stream.hop }
}

extension SharedBody {
    /// What has been received.
    private final class Source: Sendable {
        enum Taken {
            case bytes(Bytes)
            case end
            case failure(any Error)
            /// The rest is read from where it comes.
            case direct
            /// Nothing yet.
            case nothing
        }

        private struct State {
            var pieces: [Bytes] = []
            var count = 0
            /// How many of the pieces the reader has.
            var taken = 0
            /// How receiving ended.
            var end: Taken?
            var hasLeft = false
            var waiter: CheckedContinuation<Void, Never>?
        }

        private let state = Mutex(State())
        private let limit: Int
        private let isAwaited: @Sendable () -> Bool
        private let finished: @Sendable (Bytes?) -> Void

        init(
            limit: Int, isAwaited: @escaping @Sendable () -> Bool, finished: @escaping @Sendable (Bytes?) -> Void
        ) {
            self.limit = limit
            self.isAwaited = isAwaited
            self.finished = finished
        }

        func take() -> Taken {
            state.withLock { state in
                guard state.taken < state.pieces.count else { return state.end ?? .nothing }
                defer { state.taken += 1 }
                return .bytes(state.pieces[state.taken])
            }
        }

        /// Until something has happened.
        func wait() async {
            await withCheckedContinuation { continuation in
                let isDue = state.withLock { state in
                    if state.taken < state.pieces.count || state.end != nil { return true }
                    state.waiter = continuation
                    return false
                }
                if isDue { continuation.resume() }
            }
        }

        func leave() { state.withLock { $0.hasLeft = true } }

        func receive(from stream: any TransportResponse.BodyStream) async {
            do {
                while let bytes = try await stream.next() {
                    guard add(bytes) else { return finished(nil) }
                }
                end(.end)
                finished(state.withLock { Self.joined($0.pieces, $0.count) })
            } catch {
                end(.failure(error))
                finished(nil)
            }
        }

        /// False if no more is to be received here.
        private func add(_ bytes: Bytes) -> Bool {
            let isAwaited = isAwaited()
            let (goesOn, waiter) = state.withLock { state in
                state.pieces.append(bytes)
                state.count += bytes.count
                if state.count > limit || (state.hasLeft && !isAwaited) { state.end = .direct }
                return (state.end == nil, state.waiter.take())
            }
            waiter?.resume()
            return goesOn
        }

        private func end(_ end: Taken) {
            let waiter = state.withLock { state in
                state.end = end
                return state.waiter.take()
            }
            waiter?.resume()
        }

        private static func joined(_ pieces: [Bytes], _ count: Int) -> Bytes {
            if pieces.count == 1 { return pieces[0] }
            var whole: [UInt8] = []
            whole.reserveCapacity(count)
            for piece in pieces { piece.withUnsafeBytes { whole.append(contentsOf: $0) } }
            return Bytes(whole)
        }
    }
}
