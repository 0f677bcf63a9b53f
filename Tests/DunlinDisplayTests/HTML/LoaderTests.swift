import Dunlin
import DunlinDisplay
import DunlinTesting
import LeakChecking
import LedgerRows
import Synchronization
import Testing

/// Writes down what it is told.
private final class Diary: LoadObserver {
    private let state = Mutex<[String]>([])
    var lines: [String] { state.withLock { $0 } }

    private func note(_ text: String) { state.withLock { $0.append(text) } }

    func started(_ load: HTMLLoad) { note("started \(load.id)") }
    func finished(_ load: HTMLLoad, with document: HTMLDocument) { note("finished \(load.id): \(document.text)") }

    func failed(_ load: HTMLLoad, with error: any Error) {
        note("failed \(load.id): \((error as? NetworkError).map { "\($0.code)" } ?? "\(error)")")
    }

    func wait(for count: Int) async throws {
        try await eventually("line number \(count)") { lines.count >= count }
    }
}

@Suite(.leakChecked, .timeLimit(.minutes(10))) struct `Loader of documents` {
    private struct Stage {
        let transport = MockTransport()
        let session: HTTPSession
        let loader: HTMLDocumentLoader
        let diary = Diary()

        init() async throws {
            var configuration = HTTPSession.Configuration(baseURL: "http://web.test", transport: transport)
            configuration.useLoopOfTest()
            session = try HTTPSession(configuration)
            loader = HTMLDocumentLoader(session: session)
            await loader.observe(by: diary)
            transport.on(.get, "/page").respond(
                fields: ["Content-Type": "text/html; charset=latin1"], body: Bytes([0xFC])
            )
            .always()
            transport.on(.get, "/never").never().always()
        }
    }

    @Test(.rows("UI-55", "UI-56", "UI-61", "VD-12"))
    func `a loaded document has its data, text, type, encoding and final URL`() async throws {
        let stage = try await Stage()
        stage.transport.on(.get, "/old").respond(.found, fields: ["Location": "/dir/new?x=1"])
        stage.transport.on(.get, "/dir/new").respond(
            fields: ["Content-Type": "application/xhtml+xml; charset=Shift_JIS"], body: Bytes([0x93, 0xFA, 0xFF]))
        var options = HTTPSession.Options()
        options.fields = ["X-Mine": "yes"]
        let document = try await stage.loader.load("old", options: options)
        #expect(
            document
                == HTMLDocument(
                    data: Bytes([0x93, 0xFA, 0xFF]), text: "日\u{FFFD}", mimeType: "application/xhtml+xml",
                    encoding: "Shift_JIS", baseURL: "http://web.test/dir/new?x=1", isLossy: true))
        #expect(stage.transport.requests.allSatisfy { $0.fields["x-mine"] == "yes" })
        stage.transport.on(.post, "/form").respond(body: "ok")
        let plain = try await stage.loader.load("form", method: .post, body: .string("a=1"))
        #expect(plain.mimeType == "text/html" && plain.encoding == "UTF-8" && !plain.isLossy)
    }

    @Test(.rows("UI-58")) func `an observer is told once that a load has started and once how it ended`() async throws {
        let stage = try await Stage()
        let load = try await stage.loader.begin("page")
        #expect(stage.diary.lines.first == "started \(load.id)")
        #expect(try await load.document.text == "ü")
        try await stage.diary.wait(for: 2)
        stage.transport.on(.get, "/gone").respond(.notFound)
        let gone = try await stage.loader.begin("gone")
        await #expect(throws: NetworkError.self) { try await gone.document }
        try await stage.diary.wait(for: 4)
        #expect(
            stage.diary.lines == [
                "started \(load.id)", "finished \(load.id): ü", "started \(gone.id)",
                "failed \(gone.id): unacceptableStatus",
            ])
        #expect(await stage.loader.currentLoad == nil)
    }

    @Test(.rows("UI-51", "UI-59"), arguments: [false, true])
    func `a new load cancels the one before it, running or suspended, which ends first`(isSuspended: Bool) async throws
    {
        let stage = try await Stage()
        let first = try await stage.loader.begin("never")
        if isSuspended { first.suspend() }
        let second = try await stage.loader.begin("page")
        let error = await #expect(throws: NetworkError.self) { try await first.document }
        #expect(error?.code == .cancelled)
        #expect(try await second.document.text == "ü")
        try await stage.diary.wait(for: 4)
        #expect(
            stage.diary.lines == [
                "started \(first.id)", "failed \(first.id): cancelled", "started \(second.id)",
                "finished \(second.id): ü",
            ])
        try await stage.session.tasks.waitUntilEmpty()
    }

    @Test func `a load that cannot be sent leaves the current load running`() async throws {
        let stage = try await Stage()
        let load = try await stage.loader.begin("never")
        await #expect(throws: NetworkError.self) { try await stage.loader.begin("ht tp://") }
        #expect(await stage.loader.currentLoad === load)
        await stage.loader.cancel()
        await stage.loader.cancel()
        #expect(stage.diary.lines == ["started \(load.id)", "failed \(load.id): cancelled"])
        try await stage.session.tasks.waitUntilEmpty()
    }

    @Test(.rows("UI-59"))
    func `a load is cancelled with the waiting task or by its handle, even in its transformation`() async throws {
        let stage = try await Stage()
        let waiter = Task { [loader = stage.loader] in try await loader.load("never") }
        try await stage.transport.waitForRequests()
        waiter.cancel()
        await #expect(throws: CancellationError.self) { try await waiter.value }
        let (entered, clock) = (LoopbackServer.Gate(), ManualClock())
        let load = try await stage.loader.begin("page") { document in
            entered.open()
            try await clock.sleep(for: .seconds(1))
            return document
        }
        try await entered.opened()
        load.cancel()
        let error = await #expect(throws: NetworkError.self) { try await load.document }
        #expect(error?.code == .cancelled)
        try await stage.diary.wait(for: 4)
        #expect(stage.diary.lines.filter { $0.hasPrefix("failed") }.count == 2)
    }

    @Test(.rows("UI-53")) func `a load returns what its transformation returns, or fails with what it throws`()
        async throws
    {
        let stage = try await Stage()
        let document = try await stage.loader.load("page") { document in
            var document = document
            document.text = "<b>\(document.text)</b>"
            return document
        }
        #expect(document.text == "<b>ü</b>" && document.data == Bytes([0xFC]))
        struct Dislike: Error {}
        await #expect(throws: Dislike.self) { try await stage.loader.load("page") { _ in throw Dislike() } }
        try await stage.diary.wait(for: 4)
        #expect(stage.diary.lines[1].hasSuffix("<b>ü</b>") && stage.diary.lines[3].hasSuffix("Dislike()"))
    }

    /// Takes what is refused otherwise, and puts something before it.
    private struct Prefixing: ResponseSerializer {
        func validate(_ response: HTTP.WholeResponse) throws {}
        func serialize(_ response: HTTP.WholeResponse) throws -> Bytes {
            Bytes(Array("got: ".utf8) + response.body.array)
        }
    }

    @Test(.rows("UI-50", "UI-60")) func `a loader uses the serializer and the session that it is given`() async throws {
        let stage = try await Stage()
        await stage.loader.use(Prefixing())
        stage.transport.on(.get, "/gone").respond(.notFound, body: "none")
        #expect(try await stage.loader.load("gone").text == "got: none")
        let transport = MockTransport()
        transport.on(.get, "/x").respond(body: "other")
        var configuration = HTTPSession.Configuration(baseURL: "http://other.test", transport: transport)
        configuration.useLoopOfTest()
        await stage.loader.use(try HTTPSession(configuration))
        #expect(try await stage.loader.load("x").baseURL == "http://other.test/x")
    }

    @Test(.rows("UI-50")) func `a loader has a session of its own unless it is given one`() async throws {
        let server = try LoopbackServer()
        server.route(.get, "/page", .response(fields: ["Content-Type": "text/html"], body: "<meta charset=koi8-r>"))
        let (first, second) = (HTMLDocumentLoader(), HTMLDocumentLoader())
        for loader in [first, second] {
            let document = try await loader.load(HTTP.Target(server.baseURL + "/page"))
            #expect(document.encoding == "KOI8-R")
        }
        server.stop()
    }

    @Test(.rows("UI-57")) func `a load reports its progress as the body arrives`() async throws {
        let stage = try await Stage()
        let gate = LoopbackServer.Gate()
        stage.transport.on(.get, "/long").reply(
            .stream(length: 8) { index in
                if index == 1 { try await gate.opened() }
                return index < 2 ? "1234" : nil
            })
        let load = try await stage.loader.begin("long")
        for await step in load.progress {
            if step.wireBytes == 4 { gate.open() }
            if step.isFinal { #expect(step.fraction == 1) }
        }
        #expect(try await load.document.text == "12341234")
    }

    @Test func `a loader does not keep its observer alive`() async throws {
        let stage = try await Stage()
        weak var gone: Diary?
        do {
            let diary = Diary()
            gone = diary
            await stage.loader.observe(by: diary)
        }
        #expect(gone == nil)
        #expect(try await stage.loader.load("page").text == "ü")
        #expect(stage.diary.lines.isEmpty)
    }

    @Test(.rows("UI-58")) func `each of many concurrent loads ends exactly once`() async throws {
        let stage = try await Stage()
        await withTaskGroup(of: Void.self) { group in
            for number in 0..<60 {
                group.addTask {
                    do {
                        let load = try await stage.loader.begin(number.isMultiple(of: 2) ? "page" : "never")
                        if number.isMultiple(of: 3) { load.cancel() }
                    } catch {
                        Issue.record(error)
                    }
                }
            }
        }
        await stage.loader.cancel()
        try await stage.diary.wait(for: 120)
        try await stage.session.tasks.waitUntilEmpty()
        let ended = stage.diary.lines.filter { !$0.hasPrefix("started") }
            .compactMap { $0.split(separator: ":").first?.split(separator: " ").last }
        #expect(ended.count == 60 && Set(ended).count == 60 && stage.diary.lines.count == 120)
    }
}
