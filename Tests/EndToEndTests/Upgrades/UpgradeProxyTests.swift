import Dunlin
import DunlinTesting
import LedgerRows
import Testing

@Suite(.inClearAndOverTLS, .timeLimit(.minutes(10)))
struct `Upgrades through proxies` {
    @Test(.rules("6455-4.1-3"), arguments: ["http", "socks5", "socks5h"], [nil, "ada"])
    func `an upgrade goes through a tunnel, whatever the proxy would read otherwise`(
        scheme: String, user: String?
    ) async throws {
        try await ProxyStage.with(scheme, user: user, password: "pw") { (scene: ProxyStage) async throws in
            scene.server.route(.get, "/up", .upgrade(to: "foo", .echo))
            let connection = try await scene.session.upgrade("up", to: "foo")
            let sent = LoopbackServer.GeneratedBody.bytes(0..<300_000)
            async let writing: Void = connection.write(sent)
            #expect(try await connection.read(count: sent.count) == sent)
            try await writing
            try await connection.finishWriting()
            #expect(try await connection.read() == nil)
            #expect(connection.metrics.hops.last?.proxy == scene.proxy.url(scheme))
            if scheme == "http" {
                #expect(scene.proxy.visits.allSatisfy { $0.said.hasPrefix("CONNECT ") })
                #expect(scene.proxy.visits.allSatisfy { !$0.said.contains("Upgrade") })
            }
            // An ordinary request goes its usual way again.
            #expect(try await scene.get().value == "from the origin")
        }
    }

    @Test func `an upgrade goes through a proxy that speaks TLS`() async throws {
        try await ProxyStage.overTLS { (scene: ProxyStage) async throws in
            scene.server.route(.get, "/up", .upgrade(to: "foo", .echo))
            let connection = try await scene.session.upgrade("up", to: "foo")
            try await connection.write("abc")
            #expect(try await connection.read(count: 3) == "abc")
            try await connection.finishWriting()
            #expect(try await connection.read() == nil)
        }
    }
}
