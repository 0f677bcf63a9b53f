import Dunlin
import DunlinTesting
import Synchronization

/// Holds requests at a server until the test lets each go on, and knows how many were there at once.
final class Turnstile: Sendable {
    private struct State {
        var arrived: [String] = []
        var gates: [LoopbackServer.Gate] = []
        var passed = 0
        var peak = 0
        var isOpen = false
    }

    private let state = Mutex(State())

    init(at server: LoopbackServer, body: Bytes = "x") {
        server.respond { [self] request in .response(body: body).waiting(for: arrive(request.target)) }
    }

    private func arrive(_ target: String) -> LoopbackServer.Gate {
        let gate = LoopbackServer.Gate()
        let isOpen = state.withLock { state in
            state.arrived.append(target)
            state.gates.append(gate)
            state.peak = max(state.peak, state.arrived.count - state.passed)
            if state.isOpen { state.passed += 1 }
            return state.isOpen
        }
        if isOpen { gate.open() }
        return gate
    }

    /// Targets, in order of arrival.
    var arrived: [String] { state.withLock { $0.arrived } }
    /// How many were there at once.
    var peak: Int { state.withLock { $0.peak } }

    /// Lets the request with this number go on, once it is there.
    func pass(_ number: Int) async throws {
        try await eventually("request number \(number)") { arrived.count > number }
        let gate = state.withLock { state in
            state.passed += 1
            return state.gates[number]
        }
        gate.open()
    }

    /// Lets so many requests go on, one after the other, each when as many as are allowed at once are there.
    func pass(all count: Int, atOnce limit: Int, meanwhile step: () async throws -> Void = {}) async throws {
        for number in 0..<count {
            let held = min(number + limit, count)
            try await eventually("\(held) came") { arrived.count == held }
            try await step()
            try await pass(number)
        }
    }

    /// Holds nobody any more.
    func open() {
        let gates = state.withLock { state in
            state.isOpen = true
            state.passed = state.arrived.count
            return state.gates
        }
        for gate in gates { gate.open() }
    }
}

extension Stage {
    /// Requests that wait for their turn.
    var queued: Int {
        get async { await session.tasks.all.count { $0.state == .waiting && $0.phase == .pool } }
    }

    /// Begins a request, and returns when it waits for its turn behind `others`, or is at the server.
    func begin(
        _ name: String, _ options: HTTPSession.Options = .init(), behind others: Int? = nil
    ) async throws -> HTTPSession.RequestTask<String> {
        let task = try session.task(HTTP.Target(name), options: options, as: .string)
        task.resume()
        if let others {
            try await eventually("\(name) waits") { await queued == others + 1 }
        } else {
            try await eventually("\(name) is there") { server.requests.contains { $0.target == "/\(name)" } }
        }
        return task
    }
}
