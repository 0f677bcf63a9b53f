import Dunlin
import DunlinTesting
import Testing

@Suite(.inClearAndOverTLS, .timeLimit(.minutes(10)))
struct `Connections to proxies under TLS, and how they end` {
    @Test func `what TLS has to say between requests ends no connection`() async throws {
        try await ProxyStage.overTLS { (scene: ProxyStage) async throws in
            let gate = LoopbackServer.Gate()
            scene.server.enqueue(
                .response(body: "from the origin").then(.waitForSignal(gate), .renewKeys, .renewKeys))
            try await scene.expectHealthy()
            gate.open()
            for _ in 1...5 {
                scene.proxy.act(.renewKeys, .renewKeys)
                try await scene.expectHealthy()
            }
            #expect(scene.proxy.connectionCount == (Stage.isSecure ? 1 : scene.proxy.connectionCount))
            try await scene.stage.eventually("it is idle") { scene.session.connections.idle == 1 }
        }
    }

    @Test(arguments: [
        LoopbackProxy.Deed.say("HTTP/1.1 200 OK\r\n\r\n"), .say("\u{17}\u{3}\u{3}\u{0}"), .close, .cut, .reset,
        .sayOutsideTLS("HTTP/1.1 200 OK\r\n\r\n"), .sayOutsideTLS("\u{17}\u{3}\u{3}\u{1}"),
    ])
    func `a connection on which something comes unasked, or that ends, serves no other request`(
        deed: LoopbackProxy.Deed
    ) async throws {
        try await ProxyStage.overTLS { (scene: ProxyStage) async throws in
            try await scene.expectHealthy()
            scene.proxy.act(deed)
            try await scene.connectionIsDropped()
            try await scene.expectHealthy()
            #expect(scene.proxy.connectionCount == 2 && scene.server.requests.count == 2)
        }
    }

    private static let deeds: [LoopbackProxy.Deed] = [
        .close, .cut, .reset, .sayOutsideTLS("no record at all, whoever reads it"),
    ]

    /// Begins to answer, and says no more.
    private static func opening(_ framing: String) -> LoopbackServer.Reply {
        let fields: Fields =
            switch framing {
            case "length": ["Content-Length": "100000"]
            case "chunked": ["Transfer-Encoding": "chunked"]
            default: ["Connection": "close"]
            }
        let begun: Bytes = framing == "chunked" ? "2710\r\nsome" : "some"
        return LoopbackServer.Reply([.message(.init(.ok, fields: fields)), .send(begun), .stall])
    }

    @Test(arguments: deeds, ["length", "chunked", "end"])
    func `a body that the proxy breaks off is an error and never a short body`(
        deed: LoopbackProxy.Deed, framing: String
    ) async throws {
        try await ProxyStage.overTLS(configure: { $0.retry = .never }) { (scene: ProxyStage) async throws in
            scene.server.enqueue(Self.opening(framing))
            let proxy = scene.proxy
            let (wasWhole, error) = await Self.read(scene) { proxy.act(deed) }
            // In absolute form the proxy ends the body, if it says so.
            let isEnd = framing == "end" && deed == .close && !Stage.isSecure
            #expect(wasWhole == isEnd && (error is NetworkError) != isEnd, "\(String(describing: error))")
            if let error = error as? NetworkError {
                #expect([.connectionClosed, .secureConnectionFailed].contains(error.code), "\(error)")
                #expect(error.phase == .receive && error.peer?.contains("through the proxy https://") == true)
            }
            try await scene.connectionIsDropped()
            try await scene.expectHealthy()
        }
    }

    private static func read(_ scene: ProxyStage, _ act: @Sendable () -> Void) async -> (Bool, (any Error)?) {
        do {
            let text = try await scene.session.withResponse(from: "long") { response in
                var text: [UInt8] = []
                for try await chunk in response.body {
                    if text.isEmpty { act() }
                    text += Array(chunk)
                }
                return text
            }
            return (text == Array("some".utf8), nil)
        } catch {
            return (false, error)
        }
    }

    @Test func `a body that the origin breaks off inside is an error too`() async throws {
        for reply in [
            LoopbackServer.Reply.response(body: "0123456789").cutAfter(45), .response(body: "012").resetAfter(40),
        ] {
            try await ProxyStage.overTLS(configure: { $0.retry = .never }) { (scene: ProxyStage) async throws in
                scene.server.enqueue(reply)
                let error = try await scene.failure()
                #expect(error.code == .connectionClosed, "\(error)")
                try await scene.expectHealthy()
            }
        }
    }

    @Test func `a GET on a connection that the proxy closes just then is sent again`() async throws {
        try await ProxyStage.overTLS { (scene: ProxyStage) async throws in
            for deed in [LoopbackProxy.Deed.close, .cut, .reset] {
                for _ in 1...10 {
                    try await scene.expectHealthy()
                    scene.proxy.act(deed)
                }
            }
            try await scene.expectHealthy()
        }
    }
}
