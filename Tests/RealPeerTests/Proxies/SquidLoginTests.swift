import Dunlin
import DunlinTesting
import LeakChecking
import Testing

/// Who asks, by Basic and Digest, as squid's own helpers judge it.
@Suite(.needsSquid, .needsNginx, .leakChecked, .timeLimit(.minutes(10)), .serialized)
struct `A login at squid` {
    typealias Way = SquidStage.Way

    @Test(arguments: Way.all) func `Basic gets in at once`(way: Way) async throws {
        try await SquidStage.with(way, .basic, sending: Squid.password) { (stage: SquidStage) async throws in
            for _ in 0..<3 { #expect(try await stage.session.get("hello", as: .string).value == "hello") }
            await stage.session.shutdown()
            let entries = try await stage.squid.entries(way.isTunnel ? 1 : 3)
            #expect(entries.allSatisfy { $0.status == 200 && $0.fields.contains("Proxy-Authorization: Basic ") })
            #expect(entries.count == (way.isTunnel ? 1 : 3))
        }
    }

    /// A new tunnel for each request, or one connection for all: a nonce is used as often as squid lets it be, and a
    /// stale one costs one more round.
    @Test(arguments: Way.all) func `Digest is asked for once, and answered unasked until the nonce is stale`(
        way: Way
    ) async throws {
        try await SquidStage.with(
            way, .digest(uses: 4), sending: Squid.password,
            configure: { if way.isTunnel { $0.connections.maximumUses = 1 } }
        ) { (stage: SquidStage) async throws in
            for _ in 0..<10 { #expect(try await stage.session.get("hello", as: .string).value == "hello") }
            await stage.session.shutdown()
            let entries = try await stage.squid.entries(10)
            let uses = try entries.map { entry in
                let fields = entry.fields
                guard let start = fields.firstRange(of: "nc=")?.upperBound else {
                    #expect(entry.status == 407 && fields.contains("Proxy-Authorization: Basic "))
                    return 0
                }
                return try #require(Int(fields[start...].prefix(8), radix: 16))
            }
            // Once without a nonce, and once with a stale one.
            #expect(entries.count { $0.status == 407 } == 2 && uses.count == 12, "\(uses)")
            // A tunnel is logged when it has ended, so of two at once the later may be told first.
            let renewed = way.isTunnel ? (uses.max() ?? 0) + 1 : try #require(uses.lastIndex(of: 1))
            let expected = Array(0..<renewed) + Array(1...(12 - renewed))
            #expect(way.isTunnel ? uses.sorted() == expected.sorted() : uses == expected, "\(uses)")
        }
    }

    @Test(arguments: Way.all, [Squid.Login.basic, .digest(uses: 50)]) func `a wrong password is an error of its own`(
        way: Way, login: Squid.Login
    ) async throws {
        try await SquidStage.with(way, login, sending: "falsch") { (stage: SquidStage) async throws in
            let error = try await NetworkError.thrown { _ = try await stage.session.get("hello", as: .string) }
            #expect(error.code == .proxyAuthenticationFailed && error.response?.status == 407, "\(error)")
            #expect(!"\(error)".contains("falsch") && !"\(error)".contains("ZmFsc2No"))
            #expect("\(error)".contains(stage.squid.url(way.proxy)))
        }
    }

    @Test(arguments: Way.all) func `without a password the error asks for one`(way: Way) async throws {
        try await SquidStage.with(way, .basic) { (stage: SquidStage) async throws in
            let error = try await NetworkError.thrown { _ = try await stage.session.get("hello", as: .string) }
            #expect(error.code == .proxyAuthenticationFailed, "\(error)")
            #expect("\(error)".contains("asks for a user name and a password"))
        }
    }

    /// Squid refuses by the head, and of a body that is longer than its buffer it never reads the rest, though it says
    /// that it keeps the connection.
    @Test(arguments: Way.all, [10, 3 << 20]) func `a body goes up though squid asks who sends it`(
        way: Way, size: Int
    ) async throws {
        for expects in [false, true] {
            try await SquidStage.with(way, .digest(uses: 50), sending: Squid.password) {
                (stage: SquidStage) async throws in
                let body = Noise.bytes(size)
                let options = HTTPSession.Options(expectsContinue: expects)
                for name in ["one", "two"] {
                    let sent = RequestBody.bytes(Bytes(body))
                    let response = try await stage.session.put("dav/\(name)", body: sent, options: options)
                    #expect(response.status == .created)
                    #expect(try stage.nginx.contents(of: "dav/\(name)") == body)
                }
            }
        }
    }

    @Test(arguments: Way.all) func `sixteen requests at once get in by one nonce or a few`(way: Way) async throws {
        try await SquidStage.with(way, .digest(uses: 8), sending: Squid.password) { (stage: SquidStage) async throws in
            try await withThrowingTaskGroup(of: Void.self) { group in
                for _ in 0..<16 {
                    group.addTask { [session = stage.session] () async throws in
                        for _ in 0..<4 { #expect(try await session.get("hello", as: .string).value == "hello") }
                    }
                }
                try await group.waitForAll()
            }
        }
    }

    @Test(arguments: SquidStage.Way.tunnels) func `a login at the origin is none at squid`(way: Way) async throws {
        try await SquidStage.with(
            way, .basic, sending: Squid.password,
            configure: { $0.credentials = .password(user: "ada", password: "secret") }
        ) { (stage: SquidStage) async throws in
            try stage.nginx.publish(Array("in".utf8), as: "dav/page")
            let response = try await stage.session.get("basic/page", as: .string)
            #expect(response.value == "in" && response.metrics.hops.count == 2)
        }
    }
}
