import Dunlin
import DunlinTesting
import Testing

/// What comes on a new connection before the request is sent has been said by somebody who has not seen the request.
@Suite(.timeLimit(.minutes(10)))
struct `What comes before the request` {
    private static let answer: Bytes = "HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nbad"

    @Test(arguments: ["socks5", "socks5h"])
    func `what a SOCKS proxy sends behind its answer is no answer of the origin's`(scheme: String) async throws {
        try await ProxyStage.with(scheme) { (scene: ProxyStage) async throws in
            scene.proxy.enqueue(.add(Self.answer))
            let error = try await scene.failure(.init(retry: .none))
            #expect(error.code == .invalidResponse && error.phase == .send)
            #expect(error.reason.contains("before the request was sent") && error.reason.contains("through the proxy"))
            #expect(!error.requestMayHaveBeenSent && error.isSafeToRetry)
            #expect(scene.server.requests.isEmpty)
            #expect(try await scene.get().value == "from the origin")
        }
    }

    @Test func `a POST fails without having been sent`() async throws {
        try await ProxyStage.with("socks5") { (scene: ProxyStage) async throws in
            scene.proxy.enqueue(.add(Self.answer))
            let error = try await NetworkError.thrown {
                _ = try await scene.session.post("x", body: .string("once"), options: .init(retry: .none), as: .string)
            }
            #expect(error.code == .invalidResponse && !error.requestMayHaveBeenSent)
            #expect(scene.server.requests.isEmpty)
        }
    }
}
