import Dunlin
import DunlinTesting
import Folders
import Mocking
import Testing

/// What a journal repeats is what was sent.
@Suite(.inClearAndOverTLS, .timeLimit(.minutes(10)))
struct `A journal whose requests interceptors change` {
    private typealias Intercept = HTTPSession.Interception.Intercept

    /// How many POSTs an upload by `method` makes, and what it fails with.
    private static func posts(
        _ method: HTTP.Method, _ server: @escaping @Sendable (LoopbackServer.RecordedRequest) -> LoopbackServer.Reply,
        _ intercept: @escaping Intercept
    ) async throws -> (count: Int, error: NetworkError?) {
        let folder = try Folder()
        let source = try folder.write("pay", as: "source")
        var (count, error) = (0, NetworkError?.none)
        try await Stage.with(tolerating: true, configure: { $0.interceptors = [.call(intercept)] }) {
            (stage: Stage) async throws in
            stage.server.respond(server)
            let journal = try await `A journal`.open(folder, stage, rules: { $0.firstDelay = .milliseconds(1) })
            let upload = try await journal.upload("up", method: method, file: source)
            error = try await networkError { _ = try await upload.value }
            count = stage.server.requests.count { $0.method == .post }
            await journal.close()
        }
        return (count, error)
    }

    @Test func `an upload that was answered is not sent again because its interceptor could not reach another server`()
        async throws
    {
        let port = try HeldPort()
        defer { port.release() }
        let spare = HTTP.Origin(scheme: .http, host: "127.0.0.1", port: port.number)
        let (count, error) = try await Self.posts(.post, { _ in .response(500) }) { request, next in
            _ = try await next(request)
            return try await next(request) { $0.head.origin = spare }
        }
        #expect(count == 1)
        #expect(error?.requestMayHaveBeenSent == true && error?.isSafeToRetry == false)
    }

    @Test func `a PUT of which an interceptor made a POST is not repeated`() async throws {
        let (count, error) = try await Self.posts(.put, { _ in .response(503) }) { request, next in
            try await next(request) { $0.head.method = .post }
        }
        #expect(count == 1 && error?.response?.status == .serviceUnavailable)
    }
}
