internal import DunlinReactor
internal import DunlinTransport
internal import Synchronization

/// What Dunlin's own sockets do for an upgraded connection, and a custom transport does not: a wait that lasts too long
/// ends the connection, nothing is written while its request is suspended, and what is written is counted.
///
/// A custom transport does not say how far a write has come, so `silence` limits each write as a whole.
final class CustomConnection: Sendable {
    private let silence: Duration?
    private let control: TransferControl?
    private let loop: Reactor
    private let end: @Sendable ((any Error)?) -> Void
    /// Whether one of the directions has waited too long.
    private let isSilent = Atomic(false)

    /// `end` ends the call, and with it the connection.
    init(
        silence: Duration?, _ control: TransferControl?, on loop: Reactor,
        _ end: @escaping @Sendable ((any Error)?) -> Void
    ) {
        (self.silence, self.control, self.loop, self.end) = (silence, control, loop, end)
    }

    func read<Value>(_ work: () async throws -> Value) async throws -> Value { try await limited(.receive, work) }

    /// Writes `count` bytes to the connection.
    func write(
        _ count: Int, to connection: any TransportResponse.DuplexStream,
        _ work: (any TransportResponse.DuplexStream) async throws -> Void
    ) async throws {
        _ = await control?.pass(until: .never)
        // A cancel ends a suspension too, before it has closed the connection.
        try Task.checkCancellation()
        if control?.motion == .over, connection.isOpen {
            throw NetworkError(
                .cancelled, "the request was cancelled while it was suspended", phase: .send,
                requestMayHaveBeenSent: true)
        }
        try await limited(.send) { try await work(connection) }
        control?.sent(count)
    }

    private func limited<Value>(_ phase: HTTP.Phase, _ work: () async throws -> Value) async throws -> Value {
        guard let silence else { return try await work() }
        let timer = SilenceTimer(silence, on: loop, control) { [self] in
            isSilent.store(true, ordering: .relaxed)
            end(Self.timedOut(phase, silence))
        }
        timer.waitBegan()
        let token = timer.begin()
        defer { timer.end(token) }
        do {
            return try await work()
        } catch {
            guard isSilent.load(ordering: .relaxed), !Task.isCancelled else { throw error }
            throw Self.timedOut(phase, silence)
        }
    }

    private static func timedOut(_ phase: HTTP.Phase, _ silence: Duration) -> NetworkError {
        NetworkError(
            .timedOut, "timed out waiting for the peer of the upgraded connection", phase: phase,
            requestMayHaveBeenSent: true, exceeding: phase == .send ? .send : .readIdle, limit: silence,
            elapsed: silence)
    }
}
