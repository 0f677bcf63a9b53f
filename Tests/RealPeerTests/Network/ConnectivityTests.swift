import LedgerRows
import Testing

/// Requests in a network that is not there yet, or has more than one way.
@Suite(.needsNamespaces, .timeLimit(.minutes(10)), .serialized)
struct `Requests in a network namespace` {
    /// A machine with two cables to a router that serves at `10.9.0.1`, and a route to that through neither.
    private func with(_ play: (_ machine: Namespace, _ router: Namespace) async throws -> Void) async throws {
        let (machine, router) = (try Namespace(), try Namespace())
        try router.ip("addr", "add", "10.9.0.1/32", "dev", "lo")
        try machine.connect("eth0", to: router, "port0", [("10.7.0.2/24", "10.7.0.1/24")])
        try machine.connect("wwan0", to: router, "port1", [("10.8.0.2/24", "10.8.0.1/24")])
        // A link is not running as soon as it is up.
        for neighbour in ["10.7.0.1", "10.8.0.1"] {
            try await machine.start("watch", "address", neighbour).comes(to: "Reachable via Ethernet")
        }
        let server = try router.start("serve", "8080")
        await server.says("serving")
        try await play(machine, router)
        // Until here it is needed.
        #expect(server.lines == ["serving"])
    }

    private static let url = "http://10.9.0.1:8080/"

    @Test func `a request waits for a route, and goes when there is one`() async throws {
        try await with { machine, _ in
            let program = try machine.start("get", Self.url)
            await program.says("waiting: connectionFailed")
            // Not the way it waits for.
            try machine.ip("route", "add", "10.77.0.0/16", "via", "10.7.0.1")
            await program.pause(.milliseconds(300))
            try machine.ip("route", "add", "10.9.0.0/24", "via", "10.7.0.1")
            await program.says("waiting: connectionFailed", "200 10.7.0.2")
        }
    }

    @Test func `a request waits for a cable that is plugged in`() async throws {
        try await with { machine, router in
            try machine.ip("route", "add", "default", "via", "10.7.0.1")
            try router.ip("link", "set", "port0", "down")
            let program = try machine.start("get", Self.url)
            // Nobody answers, and then it is clear why.
            await program.says("waiting: timedOut")
            try router.ip("link", "set", "port0", "up")
            await program.says("waiting: timedOut", "200 10.7.0.2")
        }
    }

    @Test func `a request waits for a name server that there is a route to`() async throws {
        try await with { machine, _ in
            let program = try machine.start("get", "http://dunlin-no-such-host.test:8080/")
            await program.says("waiting: nameNotResolved")
        }
    }

    @Test(.rows("RQ-54", "AP-3"))
    func `a request goes through the interface that rules allow, whatever the routes prefer`() async throws {
        try await with { machine, _ in
            try machine.ip("route", "add", "default", "via", "10.7.0.1", "metric", "10")
            try machine.ip("route", "add", "default", "via", "10.8.0.1", "metric", "20")
            for (rules, answer) in [
                ([], "200 10.7.0.2"), (["!wwan0"], "200 10.7.0.2"), (["!eth0"], "200 10.8.0.2"),
                (["+wwan0"], "200 10.8.0.2"), (["+eth0", "+wwan0"], "200 10.7.0.2"),
            ] {
                let program = try machine.start(["get", Self.url] + rules)
                await program.says(answer)
            }
        }
    }

    @Test func `a request waits for an interface that rules allow`() async throws {
        try await with { machine, _ in
            try machine.ip("route", "add", "default", "via", "10.8.0.1")
            let program = try machine.start("get", Self.url, "!wwan0")
            await program.says("waiting: interfaceRefused")
            try machine.ip("route", "add", "10.9.0.0/24", "via", "10.7.0.1")
            await program.says("waiting: interfaceRefused", "200 10.7.0.2")
        }
    }

    @Test(.rows("RQ-54", "AP-3")) func `a failed request names the interfaces that were refused`() async throws {
        try await with { machine, _ in
            try machine.ip("route", "add", "default", "via", "10.7.0.1", "metric", "10")
            try machine.ip("route", "add", "default", "via", "10.8.0.1", "metric", "20")
            let program = try machine.start("try", Self.url, "!eth0", "!wwan0")
            await program.says("refused: eth0 (wired), wwan0 (wired)")
        }
    }
}
