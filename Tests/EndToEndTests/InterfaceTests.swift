import Dunlin
import DunlinTesting
import LedgerRows
import Testing

@Suite(.inClearAndOverTLS, .timeLimit(.minutes(10)))
struct `Rules about interfaces` {
    private static func options(_ rules: NetworkInterface.Rules?) -> HTTPSession.Options {
        var options = HTTPSession.Options()
        options.interfaces = rules.map { .value($0) } ?? .session
        return options
    }

    @Test(.rows("AP-3")) func `connections opened under different interface rules are kept apart`() async throws {
        try await Stage.with { (stage: Stage) async throws in
            stage.server.respond { _ in .response(body: "x") }
            var connections: [UInt64?] = []
            for rules in [
                nil, NetworkInterface.Rules.deny(kinds: .wwan), nil, .deny(kinds: .wwan), .allow(names: "eth9"),
            ] {
                let response = try await stage.session.get("x", options: Self.options(rules), as: .string)
                connections.append(response.metrics.hops.last?.connection)
            }
            #expect(connections[0] == connections[2] && connections[1] == connections[3])
            #expect(Set(connections).count == 3)
            #expect(stage.server.connectionCount == 3)
        }
    }

    @Test(arguments: [NetworkInterface.Rules.deny(names: "lo"), .deny(kinds: .loopback)])
    func `a denied interface is refused by name before anything is sent`(rules: NetworkInterface.Rules) async throws {
        try await Stage.with(configure: { $0.interfaces = rules }) { (stage: Stage) async throws in
            stage.server.respond { _ in .response(body: "x") }
            let error = try await NetworkError.thrown { _ = try await stage.session.get("x", as: .bytes) }
            #expect(error.code == .interfaceRefused && error.phase == .connect)
            #expect(!error.requestMayHaveBeenSent && error.isSafeToRetry)
            let refusal = try #require(error.underlying as? NetworkError.InterfaceRefusal)
            #expect(refusal.interfaces.map(\.name) == ["lo"])
            #expect(refusal.rules == rules)
            #expect("\(error)".contains("the routes lead through lo (loopback); the rules say: not lo"))
            #expect(stage.server.connectionCount == 0)
            // A request may have rules of its own.
            let response = try await stage.session.get("x", options: Self.options(.any), as: .string)
            #expect(response.value == "x")
        }
    }

    @Test func `a rule that allows wifi alone lets pass what does not leave the machine`() async throws {
        try await Stage.with(.abstract, configure: { $0.interfaces = .allow(kinds: .wifi) }) {
            (stage: Stage) async throws in
            stage.server.respond { _ in .response(body: "x") }
            #expect(try await stage.session.get("x", as: .string).value == "x")
        }
        try await Stage.with(.ipv6, configure: { $0.interfaces = .allow(kinds: .wifi) }) {
            (stage: Stage) async throws in
            stage.server.respond { _ in .response(body: "x") }
            #expect(try await stage.session.get("x", as: .string).value == "x")
        }
    }
}
