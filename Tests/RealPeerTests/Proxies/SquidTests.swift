import Dunlin
import DunlinTesting
import LeakChecking
import Testing

/// What a proxy that others wrote makes of our requests, and we of its answers.
@Suite(.needsSquid, .needsNginx, .leakChecked, .timeLimit(.minutes(10)), .serialized)
struct `Through squid` {
    typealias Way = SquidStage.Way

    // MARK: Connections

    @Test(arguments: Way.all) func `requests go over one connection, which is kept alive`(way: Way) async throws {
        try await SquidStage.with(way) { (stage: SquidStage) async throws in
            for index in 0..<5 {
                let response = try await stage.session.get("hello", as: .string)
                #expect(response.value == "hello")
                let hop = try #require(response.metrics.hops.last)
                #expect(hop.proxy == stage.squid.url(way.proxy) && hop.isConnectionReused == (index > 0))
                // The security is the origin's; with a proxy there is a phase of its own.
                #expect((hop.security == nil) == !way.isTunnel)
                if index == 0 { #expect((hop[.proxyTLS] > .zero) == (way.proxy == "https")) }
            }
            #expect(stage.session.connections.open == 1)
            await stage.session.shutdown()
            let entries = try await stage.squid.entries(way.isTunnel ? 1 : 5)
            #expect(entries.map(\.method) == (way.isTunnel ? ["CONNECT"] : Array(repeating: "GET", count: 5)))
            #expect(Set(entries.map(\.clientPort)).count == 1 && entries.allSatisfy { $0.status == 200 })
        }
    }

    @Test(arguments: ["http", "https"]) func `requests for several origins share squid's connections in clear text`(
        proxy: String
    ) async throws {
        try await SquidStage.with(Way(proxy: proxy, origin: "http")) { (stage: SquidStage) async throws in
            try await Nginx.with { (other: Nginx) async throws in
                for target in ["hello", stage.url("hello"), .url("\(other.baseURL)/hello"), "hello"] {
                    #expect(try await stage.session.get(target, as: .string).value == "hello")
                }
                #expect(stage.session.connections.open == 1)
                #expect(Set(try await stage.squid.entries(4).map(\.clientPort)).count == 1)
            }
        }
    }

    @Test(arguments: Way.all) func `a name is resolved by squid`(way: Way) async throws {
        try await SquidStage.with(way) { (stage: SquidStage) async throws in
            #expect(try await stage.session.get(stage.url("hello"), as: .string).value == "hello")
        }
    }

    // MARK: What squid learns

    @Test(arguments: Way.all) func `squid's log has nothing of a request for https but host and port`(
        way: Way
    ) async throws {
        try await SquidStage.with(way) { (stage: SquidStage) async throws in
            let options = HTTPSession.Options(fields: [
                "Authorization": "Bearer hush-token", "Cookie": "a=hush-cookie", "X-Mine": "hush-field",
            ])
            let url = stage.url("hello?hush-query")
            #expect(try await stage.session.get(url, options: options, as: .string).value == "hello")
            await stage.session.shutdown()
            let entry = try #require(try await stage.squid.entries(1).first)
            if way.isTunnel {
                #expect(entry.method == "CONNECT" && entry.target == "\(Squid.origin):\(stage.nginx.port)")
                #expect(entry.fields == "Host: \(Squid.origin):\(stage.nginx.port)\r\n")
            } else {
                // In clear text squid sees all, which shows that its log would tell.
                #expect(entry.target.hasSuffix("/hello?hush-query"))
                for secret in ["hush-token", "hush-cookie", "hush-field"] { #expect(entry.fields.contains(secret)) }
            }
        }
    }

    // MARK: Bodies

    @Test(arguments: Way.all) func `sixty-four MiB go up and come down as they are`(way: Way) async throws {
        try await SquidStage.with(way) { (stage: SquidStage) async throws in
            let file = Noise.bytes(64 << 20)
            let response = try await stage.session.put("dav/up", body: .bytes(Bytes(file)), as: .bytes)
            #expect(response.status == .created)
            #expect(Noise.isEqual(try stage.nginx.contents(of: "dav/up"), file))
            #expect(Noise.isEqual(try await stage.session.get("dav/up", as: .bytes).value.array, file))
            #expect(stage.session.connections.open == 1, "all of it over one connection")
        }
    }

    @Test(arguments: Way.all, [10, 3 << 20]) func `a body is sent once squid or the origin has consented`(
        way: Way, size: Int
    ) async throws {
        try await SquidStage.with(way) { (stage: SquidStage) async throws in
            let body = Noise.bytes(size)
            for isStreamed in [false, true] {
                let options = HTTPSession.Options(expectsContinue: true)
                let stream = AsyncThrowingStream<Bytes, any Error> { stream in
                    for start in stride(from: 0, to: size, by: 1 << 16) {
                        stream.yield(Bytes(Array(body[start..<min(start + 1 << 16, size)])))
                    }
                    stream.finish()
                }
                let sent = isStreamed ? RequestBody.stream(stream) : .bytes(Bytes(body))
                let response = try await stage.session.put("dav/\(isStreamed)", body: sent, options: options)
                #expect(response.status == .created && response.metrics.hops.count == 1)
                #expect(try stage.nginx.contents(of: "dav/\(isStreamed)") == body)
            }
        }
    }

    // MARK: Redirects

    @Test(arguments: Way.all) func `redirects are followed through squid`(way: Way) async throws {
        try await SquidStage.with(way) { (stage: SquidStage) async throws in
            let response = try await stage.session.get("moved", as: .string)
            #expect(response.value == "hello" && response.metrics.hops.count == 2)
            #expect(response.metrics.hops.allSatisfy { $0.proxy == stage.squid.url(way.proxy) })
            let kept = try await stage.session.put("kept", body: .bytes("again"), as: .string)
            #expect(kept.status == .created && kept.metrics.hops.count == 2)
            #expect(try stage.nginx.contents(of: "dav/kept") == Array("again".utf8))
            #expect(stage.session.connections.open == 1)
        }
    }

    @Test(arguments: ["http", "https"]) func `a redirect from http to https goes on through a tunnel`(
        proxy: String
    ) async throws {
        try await SquidStage.with(Way(proxy: proxy, origin: "https")) { (stage: SquidStage) async throws in
            let server = try LoopbackServer()
            defer { server.stop() }
            server.respond { [to = "\(stage.nginx.baseURL)/hello"] _ in .response(302, fields: ["Location": to]) }
            let response = try await stage.session.get(.url("\(server.baseURL)/there"), as: .string)
            #expect(response.value == "hello")
            await stage.session.shutdown()
            #expect(try await stage.squid.entries(1).map(\.method).sorted() == ["CONNECT", "GET"])
        }
    }
}
