internal import DunlinTransport

/// A step between a call and its transport: it has a request sent by `next`, once, several times or not at all, and
/// returns the response that it lets pass.
///
/// What a stage knows of one request are the locals of its function; its rules are in a machine beside it. A session
/// orders its stages once (`Chain`).
protocol Stage: Sendable {
    /// Has `request` sent. Whoever sends again gives back what came before (`discard`) and says why (`again`).
    func send(
        _ request: TransportRequest, _ sending: inout Sending, _ next: Next
    ) async throws -> TransportResponse

    /// What of a call the stage has to see.
    func interest(in sending: Sending) -> StageInterest

    /// The signs of whose credentials the stage adds to a request without its own `Authorization`; empty if it adds
    /// none.
    func signs(of request: TransportRequest, for asking: Asking) -> [Access.Sign]

    /// Whether the stage has learned, in an earlier chain, that it must see every hop.
    var hasLearned: Bool { get }
}

extension Stage {
    func signs(of request: TransportRequest, for asking: Asking) -> [Access.Sign] { [] }

    var hasLearned: Bool { false }
}

/// What of a call a stage has to see.
enum StageInterest {
    case nothing
    /// Exchanges that fail, or whose status is not a success.
    case failures
    /// Every exchange, before it takes place.
    case everything
}

/// What comes behind a stage: the later stages, and then the exchange.
///
/// A stage that needs to see failures only is passed over. If the outcome is no success, it is called nevertheless, and
/// gets the outcome instead of sending.
struct Next {
    private let stages: [any Stage]
    private var index = 0

    init(_ stages: [any Stage]) {
        self.stages = stages
    }

    func callAsFunction(
        _ request: TransportRequest, _ sending: inout Sending
    ) async throws -> TransportResponse {
        let (rest, passesOver) = rest(in: sending)
        if passesOver { return try await judged(request, after: rest, &sending) }
        return try await rest.pass(request, &sending)
    }

    /// What is left from the first stage that must be called now, from the known outcome, or from the exchange; and
    /// whether stages that need to see failures are before it.
    private func rest(in sending: Sending) -> (Next, passesOver: Bool) {
        var (rest, passesOver) = (self, false)
        while rest.index < stages.count, rest.index != sending.known?.position {
            let interest = stages[rest.index].interest(in: sending)
            if interest == .everything || interest == .failures && sending.known != nil { break }
            if interest == .failures { passesOver = true }
            rest.index += 1
        }
        return (rest, passesOver)
    }

    // Not inlined: it has the whole exchange in it, and every stage calls it.
    private func pass(_ request: TransportRequest, _ sending: inout Sending) async throws -> TransportResponse {
        if let known = sending.known, known.position == index {
            sending.known = nil
            return try known.outcome.get()
        }
        if index == stages.count { return try await sending.exchange(request) }
        var next = self
        next.index += 1
        return try await stages[index].send(request, &sending, next)
    }

    /// The response that `rest` brings, if it is a success; otherwise what the stages before it make of the outcome.
    // Not inlined either: it ends in a call of the function that calls it, which would stand in itself again.
    @inline(never)
    private func judged(
        _ request: TransportRequest, after rest: Next, _ sending: inout Sending
    ) async throws -> TransportResponse {
        do {
            let response = try await rest.pass(request, &sending)
            if response.head.status < 300 { return response }
            sending.known = KnownOutcome(position: rest.index, outcome: .success(response))
        } catch {
            sending.known = KnownOutcome(position: rest.index, outcome: .failure(error))
        }
        return try await self(request, &sending)
    }
}

/// What came of a request from a position in the chain on, before the stages that judge it are called.
struct KnownOutcome {
    let position: Int
    let outcome: Result<TransportResponse, any Error>
}
