import Dunlin
import DunlinTesting
import Mocking
import Synchronization
import Testing

@testable import DunlinSession

@Suite(.timeLimit(.minutes(10))) struct `What a session's own code asks for` {
    /// Code that the session's requests wait for.
    enum Code: CaseIterable, Sendable {
        case call
        case exchange
        case handler
        case refresh
    }

    private static let stale: Fields = ["Cache-Control": "max-age=0, stale-while-revalidate=1000"]
    private static let challenge: Fields = [
        "WWW-Authenticate": "Digest realm=d, nonce=n, qop=auth, algorithm=SHA-256"
    ]

    /// Has this code of the session's run `ask` once for each request.
    private static func configure(
        _ configuration: inout HTTPSession.Configuration, _ code: Code,
        _ ask: @escaping @Sendable () async throws -> Void
    ) {
        let intercept: HTTPSession.Interception.Intercept = { request, next in
            try await ask()
            return try await next(request)
        }
        switch code {
        case .call: configuration.interceptors = [.call(intercept)]
        case .exchange: configuration.interceptors = [.exchange(intercept)]
        case .handler:
            configuration.authenticationHandler = { _ in
                do { try await ask() } catch { Issue.record(error) }
                return .reject
            }
        case .refresh:
            configuration.authentication = .bearer { _ in
                try await ask()
                return HTTPSession.BearerToken("t")
            }
        }
    }

    @Test(arguments: Code.allCases)
    func `code that requests wait for revalidates stale responses at once, not in the background`(
        code: Code
    ) async throws {
        let known = Mutex<HTTPSession?>(nil)
        let words = Mutex<[String]>([])
        let ask: @Sendable () async throws -> Void = {
            guard let session = known.withLock(\.self) else { return }
            for _ in 1...2 {
                let word = try await session.get("/word", as: .string).value
                words.withLock { $0.append(word) }
            }
        }
        let stage = try CachedStage { Self.configure(&$0, code, ask) }
        stage.transport.on(.get, "/word").respond(fields: Self.stale, body: "1")
            .thenRespond(fields: Self.stale, body: "2")
        if code == .handler {
            stage.transport.on(.get, "/a").respond(401, fields: Self.challenge)
        } else {
            stage.transport.on(.get, "/a").respond(body: "there")
        }
        known.withLock { $0 = stage.session }
        defer { known.withLock { $0 = nil } }
        let error = try await networkError { _ = try await stage.get() }
        #expect(error?.response?.status == (code == .handler ? 401 : nil))
        #expect(words.withLock(\.self) == ["1", "2"])
        await stage.session.shutdown()
        #expect(stage.sent.count == 3)
    }
}
