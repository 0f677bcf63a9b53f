import Dunlin
import DunlinTesting
import Folders
import Testing

/// A download of which an interceptor or a hook makes a POST, which may do its work each time it is sent.
@Suite(.inClearAndOverTLS, .timeLimit(.minutes(10)))
struct `A download that is sent as another request` {
    private static let length = 400_000

    enum Changer: CaseIterable {
        case call
        case exchange
        case redirectHook
    }

    /// Has what the session sends to /pay be a POST.
    private static func pay(at changer: Changer, _ configuration: inout HTTPSession.Configuration) {
        let pay: HTTPSession.Interception.Intercept = { request, next in
            try await next(request) { changes in
                changes.head.method = .post
                changes.body = .string("pay")
            }
        }
        switch changer {
        case .call: configuration.interceptors = [.call(pay)]
        case .exchange: configuration.interceptors = [.exchange(pay)]
        case .redirectHook:
            configuration.hooks.redirect = { proposal in
                var next = proposal.next
                (next.method, next.body) = (.post, .string("pay"))
                return .modify(next)
            }
        }
    }

    /// Downloads, and returns how often it was paid.
    private static func payments(
        _ file: ServedFile, at changer: Changer, _ options: HTTPSession.DownloadOptions, fails: Bool
    ) async throws -> Int {
        let folder = try Folder()
        var payments = 0
        try await Stage.with(tolerating: true, configure: { pay(at: changer, &$0) }) { (stage: Stage) async throws in
            stage.server.respond { request in
                request.target == "/go" ? .response(302, fields: ["Location": "/pay"]) : file.reply(to: request)
            }
            let target: HTTP.Target = changer == .redirectHook ? "go" : "pay"
            let destination = HTTPSession.Destination.file("\(folder.path)/file")
            let error = try await networkError {
                _ = try await stage.session.download(target, to: destination, transfer: options)
            }
            #expect((error != nil) == fails && error?.isSafeToRetry != true)
            #expect(try folder.names() == (fails ? [] : ["file"]), "there is nothing to go on with")
            if !fails { #expect(try folder.contents("file") == file.contents) }
            payments = stage.server.requests.count { $0.method == .post }
        }
        return payments
    }

    @Test(arguments: Changer.allCases, [HTTPSession.Resuming.whileRunning, .ifValidatorMatches])
    func `a download that was sent as a POST is not sent again after its body broke`(
        changer: Changer, resuming: HTTPSession.Resuming
    ) async throws {
        var options = HTTPSession.DownloadOptions()
        options.resuming = resuming
        let file = ServedFile(Self.length, cuts: [50_000, 50_000])
        #expect(try await Self.payments(file, at: changer, options, fails: true) == 1)
    }

    @Test(arguments: Changer.allCases)
    func `a download that was sent as a POST is not sent in segments`(changer: Changer) async throws {
        var options = HTTPSession.DownloadOptions()
        options.segments = .init(4, minimumLength: 1)
        let file = ServedFile(Self.length)
        // Slow enough for others to begin meanwhile.
        file.change { $0.faults = [.drip(size: 8000, every: .milliseconds(2))] }
        #expect(try await Self.payments(file, at: changer, options, fails: false) == 1)
    }

    /// Makes a POST of what asks for a part.
    private static let payForParts: HTTPSession.Interception.Intercept = { request, next in
        guard request.head.fields.contains("range") else { return try await next(request) }
        return try await next(request) { $0.head.method = .post }
    }

    /// Nobody changes the first request, which brings all of it in the end.
    @Test(arguments: [2, 4], [false, true])
    func `segments that are sent as POSTs are not asked for again`(segments: Int, isAnswered: Bool) async throws {
        let folder = try Folder()
        let (file, clock) = (ServedFile(4 << 20, held: 100_000), ManualClock())
        try await Stage.with(clock: clock, tolerating: true) { configuration in
            configuration.interceptors = [.exchange(Self.payForParts)]
        } _: { (stage: Stage) async throws in
            stage.server.respond { $0.method == .post && !isAnswered ? .init([.close]) : file.reply(to: $0) }
            var options = HTTPSession.DownloadOptions()
            options.segments = .init(segments, minimumLength: 512 << 10)
            let task = try stage.session.downloadTask("file", to: .folder(folder.path), transfer: options)
            task.resume()
            try await stage.eventually("the part breaks off") {
                stage.server.partCount > 0 && stage.session.connections.leased == 1
            }
            // Longer than a segment that broke waits to be asked for again.
            for _ in 0..<5 { try await clock.advance(by: .seconds(10)) }
            file.gate.open()
            #expect(try await task.value.byteCount == file.contents.count)
            #expect(try folder.contents("file") == file.contents)
            #expect(stage.server.requests.map(\.method) == [.get, .post])
        }
    }
}
