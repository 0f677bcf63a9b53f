import Dunlin
import DunlinTesting
import Testing

@Suite(.inClearAndOverTLS, .timeLimit(.minutes(10)))
struct `Proxies that are spoken to over TLS` {
    @Test(arguments: [nil, "ada"])
    func `requests go through one connection, which is secured once with the proxy and once with the origin`(
        user: String?
    ) async throws {
        try await ProxyStage.overTLS(user: user, password: "pw") { (scene: ProxyStage) async throws in
            for count in 1...5 {
                let response = try await scene.get()
                #expect(response.value == "from the origin")
                let hop = try #require(response.metrics.hops.last)
                #expect(hop.proxy == scene.proxy.url("https") && hop.isConnectionReused == (count > 1))
                #expect((hop.security != nil) == Stage.isSecure)
                #expect((hop.duration(of: .proxyTLS) != nil) == (count == 1))
                #expect((hop.duration(of: .tunnel) != nil) == (count == 1 && Stage.isSecure))
                #expect((hop.duration(of: .tls) != nil) == (count == 1 && Stage.isSecure))
                let phases = HTTP.Phase.allCases.compactMap { hop.duration(of: $0) }
                #expect(phases.reduce(.zero, +) <= hop.total, "\(hop)")
            }
            #expect(scene.proxy.connectionCount == 1 && scene.proxy.handshakes.count == 1)
            #expect(scene.proxy.visits.count == (Stage.isSecure ? 1 : 5))
            let visit = try #require(scene.proxy.visits.first)
            #expect(visit.said.contains("Proxy-Authorization: Basic") == (user != nil))
            #expect(scene.server.requests.allSatisfy { !$0.fields.contains("proxy-authorization") })
        }
    }

    @Test func `connections that are opened ahead are used by requests`() async throws {
        try await ProxyStage.overTLS { (scene: ProxyStage) async throws in
            #expect(try await scene.session.prewarm(2) == 2)
            #expect(try await scene.get().metrics.hops.last?.isConnectionReused == true)
            #expect(scene.proxy.connectionCount == 2 && scene.proxy.handshakes.count == 2)
        }
    }

    // MARK: - Bodies

    private static let length = 32 << 20

    @Test(arguments: ["length", "chunked", "close"]) func `a long body comes whole, however it is framed`(
        framing: String
    ) async throws {
        try await ProxyStage.overTLS { (scene: ProxyStage) async throws in
            let length = Self.length
            scene.server.respond { _ in
                switch framing {
                case "length": .response(fields: ["Content-Length": "\(length)"]).then(.generate(length))
                case "close": [.send("HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n"), .generate(length), .close]
                default:
                    LoopbackServer.Reply([
                        .send("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"),
                        .send(Bytes(String(length / 2, radix: 16) + "\r\n")), .generated(0..<length / 2),
                        .send(Bytes("\r\n" + String(length / 2, radix: 16) + "\r\n")),
                        .generated(length / 2..<length), .send("\r\n0\r\n\r\n"),
                    ])
                }
            }
            for _ in 1...2 {
                let body = try await scene.session.get("long", as: .bytes).value
                #expect(
                    body.count == length
                        && body.suffix(1000)
                            == LoopbackServer.GeneratedBody.bytes(
                                length - 1000..<length)[...]
                )
            }
            #expect(scene.proxy.connectionCount == (framing == "close" ? 2 : 1))
        }
    }

    @Test(arguments: [true, false]) func `a long body is sent whole, with its length or in chunks`(
        isChunked: Bool
    ) async throws {
        try await ProxyStage.overTLS { (scene: ProxyStage) async throws in
            let pieces = UploadPieces(total: Self.length, size: 100_000)
            for body in [
                RequestBody.stream(pieces, length: isChunked ? nil : Self.length),
                .bytes(LoopbackServer.GeneratedBody.bytes(0..<Self.length)),
            ] {
                #expect(try await scene.session.post("up", body: body, as: .string).value == "from the origin")
                let request = try #require(scene.server.requests.last)
                #expect(request.bodyCount == Self.length)
                #expect(request.bodyHash == LoopbackServer.GeneratedBody.hash(length: Self.length))
            }
            #expect(scene.proxy.connectionCount == 1)
        }
    }

    @Test func `a body is sent while the answer comes, and all keys change meanwhile`() async throws {
        try await ProxyStage.overTLS { (scene: ProxyStage) async throws in
            let piece = Bytes([UInt8](repeating: 7, count: 200_000))
            let steps = (0..<10).flatMap { _ in [LoopbackServer.Step.send(piece), .renewKeys] }
            scene.server.enqueue(
                LoopbackServer.Reply([.message(.init(.ok, fields: ["Content-Length": "2000000"]))] + steps).beforeBody)
            let body = RequestBody.stream(UploadPieces(total: 4 << 20))
            let proxy = scene.proxy
            let count = try await scene.session.withResponse(from: "swap", method: .post, body: body) { response in
                try await response.body.reduce(0) { count, chunk in
                    // More of them in a row than any peer needs are refused.
                    if count % 3 == 0 { proxy.act(.renewKeys) }
                    return count + chunk.count
                }
            }
            #expect(count == 2_000_000)
            try await scene.stage.eventually("the request") { scene.server.requests.first?.isComplete == true }
            #expect(scene.server.requests.first?.body == LoopbackServer.GeneratedBody.bytes(0..<4 << 20))
            try await scene.expectHealthy()
            #expect(scene.proxy.connectionCount == 1)
        }
    }

    @Test func `a body is kept back until the origin says to continue`() async throws {
        try await ProxyStage.overTLS { (scene: ProxyStage) async throws in
            var options = HTTPSession.Options(expectsContinue: true, continueTimeout: .seconds(600))
            options.fields["X-Mine"] = "x"
            let body = RequestBody.stream(UploadPieces(total: 100_000))
            let response = try await scene.session.put("up", body: body, options: options, as: .bytes)
            #expect(response.interim.map(\.status) == [.continue])
            #expect(scene.server.requests.first?.wasContinued == true)
            #expect(scene.server.requests.first?.bodyCount == 100_000)
        }
    }

    @Test func `a suspended request reads no more, and goes on where it was`() async throws {
        try await ProxyStage.overTLS { (scene: ProxyStage) async throws in
            let gate = LoopbackServer.Gate()
            scene.server.enqueue(
                .response(fields: ["Content-Length": "\(Self.length)"]).then(
                    .generated(0..<1000), .waitForSignal(gate), .generated(1000..<Self.length)))
            let task = try scene.session.task("long", as: .bytes)
            task.resume()
            for await step in task.downloadProgress where step.wireBytes > 0 { break }
            task.suspend()
            gate.open()
            try await scene.server.wait { $0.blockedSends > 0 }
            #expect(task.downloaded.wireBytes == 1000)
            task.resume()
            let body = try await task.value
            #expect(
                body.count == Self.length
                    && body.suffix(1000)
                        == LoopbackServer.GeneratedBody.bytes(
                            Self.length - 1000..<Self.length)[...]
            )
        }
    }

    @Test func `a stream that is read slowly is a stream, and its connection serves another request`() async throws {
        try await ProxyStage.overTLS { (scene: ProxyStage) async throws in
            scene.server.respond { request in
                request.target.hasPrefix("/path")
                    ? .response(body: "from the origin")
                    : LoopbackServer.Reply(
                        [.message(.init(.ok, fields: ["Content-Length": "4000000"]))]
                            + (0..<40).flatMap { [.generated($0 * 100_000..<($0 + 1) * 100_000), .renewKeys] })
            }
            let count = try await scene.session.withResponse(from: "long") { response in
                var count = 0
                for try await chunk in response.body {
                    count += chunk.count
                    for _ in 1...10 { await Task.yield() }
                }
                return count
            }
            #expect(count == 4_000_000)
            try await scene.expectHealthy()
            #expect(scene.proxy.connectionCount == 1)
        }
    }
}
