import LedgerRows
import Testing

/// Reachability as it is seen by a program in a real network, which is taken apart under it.
@Suite(.needsNamespaces, .timeLimit(.minutes(10)), .serialized)
struct `Reachability in a network namespace` {
    private static let none = "Not Reachable"
    private static let wired = "Reachable via Ethernet"

    /// A machine with a cable to a router, and no route yet.
    private func with(_ play: (Namespace, Namespace) async throws -> Void) async throws {
        let (machine, router) = (try Namespace(), try Namespace())
        try machine.connect(
            "eth0", to: router, "port0", [("10.7.0.2/24", "10.7.0.1/24"), ("fd07::2/64", "fd07::1/64")])
        try await play(machine, router)
    }

    @Test(.rows("RE-5", "AP-6")) func `reachability follows the default route as it comes and goes`() async throws {
        try await with { machine, _ in
            let program = try machine.start("watch")
            await program.says(Self.none)
            try machine.ip("route", "add", "default", "via", "10.7.0.1")
            await program.says(Self.none, Self.wired)
            try machine.ip("route", "del", "default")
            await program.says(Self.none, Self.wired, Self.none)
        }
    }

    @Test(.rows("RE-15")) func `reachability follows a link that is unplugged, and one that is put down`() async throws
    {
        try await with { machine, router in
            try machine.ip("route", "add", "default", "via", "10.7.0.1")
            let program = try machine.start("watch")
            await program.says(Self.wired)
            // The other end of the cable goes: there is no carrier, though every route is there.
            try router.ip("link", "set", "port0", "down")
            await program.says(Self.wired, Self.none)
            try router.ip("link", "set", "port0", "up")
            await program.says(Self.wired, Self.none, Self.wired)
            try machine.ip("link", "set", "eth0", "down")
            await program.says(Self.wired, Self.none, Self.wired, Self.none)
            try machine.ip("link", "set", "eth0", "up")
            // The routes went with the link.
            try machine.ip("route", "add", "default", "via", "10.7.0.1")
            await program.says(Self.wired, Self.none, Self.wired, Self.none, Self.wired)
        }
    }

    @Test func `reachability follows an address that is taken away and given back`() async throws {
        try await with { machine, _ in
            try machine.ip("route", "add", "default", "via", "10.7.0.1")
            let program = try machine.start("watch")
            await program.says(Self.wired)
            try machine.ip("addr", "del", "10.7.0.2/24", "dev", "eth0")
            await program.says(Self.wired, Self.none)
            try machine.ip("addr", "add", "10.7.0.3/24", "dev", "eth0")
            try machine.ip("route", "add", "default", "via", "10.7.0.1")
            await program.says(Self.wired, Self.none, Self.wired)
        }
    }

    @Test(.rows("RE-5")) func `a network is reachable with IPv6 alone, as long as there is an address to come from`()
        async throws
    {
        try await with { machine, _ in
            try machine.ip("addr", "del", "10.7.0.2/24", "dev", "eth0")
            try machine.ip("-6", "route", "add", "default", "via", "fd07::1")
            let program = try machine.start("watch")
            await program.says(Self.wired)
            // A link-local address is left, which no packet leaves the link with.
            try machine.ip("addr", "del", "fd07::2/64", "dev", "eth0")
            await program.says(Self.wired, Self.none)
            try machine.ip("addr", "add", "fd07::5/64", "dev", "eth0", "nodad")
            await program.says(Self.wired, Self.none, Self.wired)
        }
    }

    @Test(.rows("RE-5")) func `reachability depends on routing rules as well as on routes`() async throws {
        try await with { machine, _ in
            try machine.ip("route", "add", "default", "via", "10.7.0.1", "table", "77")
            let program = try machine.start("watch")
            await program.says(Self.none)
            try machine.ip("rule", "add", "from", "all", "lookup", "77")
            await program.says(Self.none, Self.wired)
            try machine.ip("route", "add", "unreachable", "0.0.0.0/1", "table", "77")
            try machine.ip("route", "add", "unreachable", "128.0.0.0/1", "table", "77")
            await program.says(Self.none, Self.wired, Self.none)
        }
    }

    @Test(.rows("RE-16")) func `an address may be reachable without a default route, and this machine without any`()
        async throws
    {
        try await with { machine, router in
            let near = try machine.start("watch", "address", "10.7.0.9")
            let far = try machine.start("watch", "address", "203.0.113.5")
            let six = try machine.start("watch", "address", "fd07::77")
            let own = try machine.start("watch", "address", "10.7.0.2")
            let loopback = try machine.start("watch", "host", "127.0.0.1")
            for program in [near, six, own, loopback] { await program.says(Self.wired) }
            await far.says(Self.none)
            try machine.ip("route", "add", "203.0.113.0/24", "via", "10.7.0.1")
            await far.says(Self.none, Self.wired)
            try router.ip("link", "set", "port0", "down")
            await far.says(Self.none, Self.wired, Self.none)
            await near.says(Self.wired, Self.none)
            await six.says(Self.wired, Self.none)
            // What is this machine's own stays so without a cable.
            #expect(own.lines == [Self.wired])
            try machine.ip("link", "set", "lo", "down")
            await near.pause(.milliseconds(200))
            #expect(loopback.lines == [Self.wired])
        }
    }

    @Test func `an observed reachability costs nothing while nothing changes`() async throws {
        try await with { machine, _ in
            let program = try machine.start("watch")
            await program.says(Self.none)
            // Addresses of a link that has just come up get ready one after the other, for a few seconds. And the
            // threads that asked the kernel leave after a while. Swift's own have timers, which are none of ours.
            var before = [Int]()
            for _ in 0..<8 where program.threads.map(\.wakes) != before {
                before = program.threads.map(\.wakes)
                await program.pause(.seconds(3))
            }
            #expect(program.threads.map(\.wakes) == before)
            #expect(!program.threads.contains { $0.name == "dunlin-disk" })
            try machine.ip("route", "add", "default", "via", "10.7.0.1")
            await program.says(Self.none, Self.wired)
            #expect(program.threads.map(\.wakes) != before)
        }
    }

    @Test func `no change is lost when the kernel has more news than the socket holds`() async throws {
        try await with { machine, _ in
            let program = try machine.start("watch")
            await program.says(Self.none)
            for round in 1...2 {
                program.halt()
                try machine.ip(
                    lines: (0..<2000).map { "addr add 10.\(20 + round).\($0 / 250).\($0 % 250 + 1)/32 dev eth0" })
                try machine.ip("route", round == 1 ? "add" : "del", "default", "via", "10.7.0.1")
                #expect(program.lostNews > 0, "it was not enough news")
                program.goOn()
                await program.comes(to: round == 1 ? Self.wired : Self.none)
            }
            #expect(program.lines == [Self.none, Self.wired, Self.none])
        }
    }
}
