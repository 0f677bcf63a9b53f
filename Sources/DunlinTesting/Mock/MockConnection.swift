internal import DunlinReactor
internal import DunlinTransport
internal import DunlinTypes
internal import Synchronization

/// The connection of a 101 that a mock transport answers with: the test's closures are the peer. Its two directions are
/// used by the same rules as those of a socket.
final class MockConnection: TransportResponse.DuplexStream {
    private struct State {
        var machine = DuplexMachine()
        var next = 0
        var hop: HTTP.Hop
    }

    private let peer: MockTransport.Outcome.Peer
    private let loop: Reactor
    private let state: Mutex<State>
    /// What ends a read and a write that wait when the connection is closed.
    private let (reading, writing) = (Cancellation(), Cancellation())

    init(_ peer: MockTransport.Outcome.Peer, after hop: HTTP.Hop, on loop: Reactor) {
        self.peer = peer
        self.loop = loop
        state = Mutex(State(hop: hop))
    }

    var expectedLength: Int? { nil }
    var trailers: Fields { Fields() }
    var hop: HTTP.Hop { state.withLock { $0.hop } }
    var isOpen: Bool { state.withLock { !$0.machine.isClosed } }

    func next() async throws -> Bytes? {
        let (turn, index) = state.withLock { state in
            let turn = state.machine.beginReading()
            if turn == .proceed { state.next += 1 }
            return (turn, state.next - 1)
        }
        if turn == .over { return nil }
        try Self.check(turn, "read")
        let piece: Bytes?
        do {
            piece = try await run(reading) { [peer] in try await peer.sends(index) }
        } catch {
            close()
            throw error
        }
        let action = state.withLock { state in
            state.hop.bytesReceived += piece?.count ?? 0
            state.hop.bodyBytes += piece?.count ?? 0
            state.hop.decodedBytes = state.hop.bodyBytes
            return state.machine.endReading(isOver: piece == nil)
        }
        if action == .close { end() }
        return piece
    }

    func write(_ bytes: Bytes) async throws {
        try await send(bytes)
    }

    func finishWriting() async throws {
        try await send(nil)
    }

    func close() {
        if state.withLock({ $0.machine.close() }) == .close { end() }
    }

    private func send(_ bytes: Bytes?) async throws {
        let turn = state.withLock { $0.machine.beginWriting() }
        if turn == .over, bytes == nil { return }
        try Self.check(turn, "written to")
        do {
            try await run(writing) { [peer] in try await peer.receives(bytes) }
        } catch {
            // What the peer sent before it took nothing more can still be read.
            if state.withLock({ $0.machine.failWriting() }) == .close { end() }
            throw error
        }
        let action = state.withLock { state in
            state.hop.bytesSent += bytes?.count ?? 0
            return state.machine.endWriting(isOver: bytes == nil)
        }
        if action == .close { end() }
    }

    /// Calls the test's closure, until the connection is closed.
    private func run<Value: Sendable>(
        _ cancellation: Cancellation, _ work: @escaping @Sendable () async throws -> Value
    ) async throws -> Value {
        do {
            return try await withTaskCancellationHandler {
                try await Race.run(until: .never, cancellation, on: loop, work)
            } onCancel: {
                close()
            }
        } catch let lost as Race.Lost {
            if Task.isCancelled { throw CancellationError() }
            throw NetworkError(
                .connectionClosed, "the connection has been closed", phase: .receive, requestMayHaveBeenSent: true,
                underlying: lost)
        }
    }

    private func end() {
        reading.cancel(.handle)
        writing.cancel(.handle)
    }

    private static func check(_ turn: DuplexMachine.Turn, _ what: String) throws {
        let reason: String
        switch turn {
        case .proceed: return
        case .busy:
            throw NetworkError(
                .bodyConsumed, "the connection is already being \(what) by another task", phase: .receive)
        case .over: reason = "this side has already ended its writing"
        case .closed: reason = "the connection has been closed"
        }
        throw NetworkError(.connectionClosed, reason, phase: .receive, requestMayHaveBeenSent: true)
    }
}
