import Dunlin
import DunlinTesting
import Folders
import Synchronization
import Testing

/// An exchange that took place is in the metrics and in the error, whoever was not content with its response.
@Suite(.inClearAndOverTLS, .timeLimit(.minutes(5)))
struct `A request that fails with its response` {
    struct Failure: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let code: NetworkError.Code?
        /// How many responses come.
        let hops: Int
        let configure: @Sendable (inout HTTPSession.Configuration) -> Void
        let reply: @Sendable (LoopbackServer.RecordedRequest) -> LoopbackServer.Reply
        let ask: @Sendable (Stage, HTTPSession.Options) async throws -> Void

        init(
            _ description: String, _ code: NetworkError.Code?, hops: Int = 1,
            configure: @escaping @Sendable (inout HTTPSession.Configuration) -> Void = { _ in },
            reply: @escaping @Sendable (LoopbackServer.RecordedRequest) -> LoopbackServer.Reply = { _ in
                .response(body: "x")
            },
            ask: @escaping @Sendable (Stage, HTTPSession.Options) async throws -> Void = get
        ) {
            testDescription = description
            (self.code, self.hops, self.configure, self.reply, self.ask) = (code, hops, configure, reply, ask)
        }
    }

    private struct Own: Error {}

    private static let get: @Sendable (Stage, HTTPSession.Options) async throws -> Void = {
        _ = try await $0.session.get("a", options: $1, as: .bytes)
    }

    /// A body that can be sent once.
    private static let post: @Sendable (Stage, HTTPSession.Options) async throws -> Void = {
        let body = RequestBody.stream(UploadPieces(total: 10), length: 10)
        _ = try await $0.session.post("a", body: body, options: $1, as: .bytes)
    }

    private static func download(
        _ change: @escaping @Sendable (inout HTTPSession.DownloadOptions) throws -> Void = { _ in }
    ) -> @Sendable (Stage, HTTPSession.Options) async throws -> Void {
        { stage, options in
            let folder = try Folder()
            var transfer = HTTPSession.DownloadOptions()
            try change(&transfer)
            _ = try await stage.session.download(
                "a", options: options, to: .file("\(folder.path)/file"), transfer: transfer)
        }
    }

    private static func redirect(to location: String, _ status: HTTP.Status = 302)
        -> @Sendable (LoopbackServer.RecordedRequest) -> LoopbackServer.Reply
    {
        { _ in LoopbackServer.Reply.response(status, fields: ["Location": location]).closingAfter }
    }

    private static let challenge: @Sendable (LoopbackServer.RecordedRequest) -> LoopbackServer.Reply = { _ in
        LoopbackServer.Reply.asking("Basic realm=\"r\"").closingAfter
    }

    private static func answering(
        _ response: HTTPSession.AuthenticationChallenge.Answer
    ) -> @Sendable (inout HTTPSession.Configuration) -> Void {
        // It is asked about certificates too.
        { $0.authenticationHandler = { $0.response == nil ? .performDefault : response } }
    }

    private static let throwing: HTTPSession.Interception.Intercept = { request, next in
        _ = try await next(request)
        throw Own()
    }

    static let failures: [Failure] = [
        Failure("too many redirects", .tooManyRedirects, hops: 2) {
            $0.redirects.limit = 1
        } reply: {
            .response(302, fields: ["Location": "\($0.target)a"])
        },
        Failure("a redirect to what was asked before", .redirectLoop, reply: redirect(to: "a")),
        Failure("a redirect to no URL", .invalidRedirect, reply: redirect(to: "http://[")),
        Failure("a redirect of a body that is gone", .bodyNotReplayable, reply: redirect(to: "/b", 307), ask: post),
        Failure(
            "a challenge for a body that is gone", .bodyNotReplayable,
            configure: answering(.useCredential(.password(user: "ada", password: "x"))), reply: challenge, ask: post),
        Failure(
            "a challenge whose handler cancels", .cancelled, configure: answering(.cancel()), reply: challenge),
        Failure(
            "a challenge whose handler has an error of its own", nil, configure: answering(.cancel(Own())),
            reply: challenge),
        Failure("a token that is refused, for a body that is gone", .bodyNotReplayable) {
            $0.authentication = .bearer(.init("old")) { _ in .init("token") }
        } reply: {
            challenge($0)
        } ask: {
            try await post($0, $1)
        },
        Failure("a response that a hook turns down", .cancelled) { $0.hooks.response = { _, _ in .cancel } },
        Failure("a stream that a hook turns down", .cancelled) {
            $0.hooks.response = { _, _ in .cancel }
        } ask: { stage, options in
            try await stage.session.withResponse(from: "a", options: options) { _ in }
        },
        Failure("an interceptor around the call", .interceptorFailed) { $0.interceptors = [.call(throwing)] },
        Failure("an interceptor around the exchange", .interceptorFailed) { $0.interceptors = [.exchange(throwing)] },
        Failure("a body that is too long", .limitExceeded) {
            $0.limits.bodyBytes = 3
        } reply: { _ in
            .response(body: "long")
        },
        Failure(
            "a download of what is not there", .unacceptableStatus, reply: { _ in .response(404) }, ask: download()),
        Failure("a download that is too long", .limitExceeded, ask: download { $0.bodyLimit = 0 }),
        Failure(
            "a download with another digest", .digestMismatch,
            ask: download { $0.digest = try ContentDigest(.sha256, hex: String(repeating: "0", count: 64)) }),
    ]

    @Test(arguments: failures)
    func `an error of a response that came has its hop, and so have the metrics`(failure: Failure) async throws {
        try await Stage.with(tolerating: true, configure: failure.configure) { (stage: Stage) async throws in
            stage.server.respond(failure.reply)
            let told = Mutex<HTTPSession.Metrics?>(nil)
            var options = HTTPSession.Options()
            options.hooks.metrics = { _, metrics in told.withLock { $0 = metrics } }
            var error: (any Error)?
            do { try await failure.ask(stage, options) } catch let thrown { error = thrown }
            #expect(error != nil)
            let metrics = try #require(told.withLock { $0 })
            #expect(metrics.hops.count == failure.hops && stage.server.requests.count == failure.hops)
            #expect(metrics.hops.allSatisfy { $0.connection > 0 && $0.ended >= $0.started })
            guard let code = failure.code else { return }
            let known = try #require(error as? NetworkError)
            #expect(known.code == code && known.hop == metrics.hops.last)
        }
    }

    /// Its error is one that carries no hop, unless the hook is heard just before it.
    @Test func `a request that is cancelled while a hook decides about its response has the hop in its metrics`()
        async throws
    {
        try await Stage.with(tolerating: true) { (stage: Stage) async throws in
            stage.server.respond { _ in .response(body: "x") }
            let (asked, never) = (LoopbackServer.Gate(), LoopbackServer.Gate())
            let told = Mutex<HTTPSession.Metrics?>(nil)
            var options = HTTPSession.Options()
            options.hooks.metrics = { _, metrics in told.withLock { $0 = metrics } }
            options.hooks.response = { _, _ in
                asked.open()
                do { try await never.opened() } catch { #expect(error is CancellationError) }
                return .cancel
            }
            let task = Task { [options] in try await stage.session.get("a", options: options, as: .bytes) }
            try await asked.opened()
            task.cancel()
            await #expect(throws: (any Error).self) { _ = try await task.value }
            #expect(told.withLock { $0?.hops.count } == 1)
        }
    }
}
