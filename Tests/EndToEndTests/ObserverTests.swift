import Dunlin
import DunlinTesting
import Folders
import Mocking
import Testing

@Suite(.inClearAndOverTLS, .timeLimit(.minutes(10)))
struct `An observer of real connections` {
    @Test func `it is told the hop of each exchange, and how each body ended`() async throws {
        let observer = RecordingObserver(adding: ["Traceparent": "00-1"])
        try await Stage.with(configure: { $0.observers = [observer] }) { (stage: Stage) async throws in
            stage.server.respond { request in
                request.target == "/long" ? .generated(length: 3_000_000) : .response(body: "short")
            }
            try await stage.session.get("a")
            try await stage.session.get("long")
            try await stage.session.withResponse(from: "long") { response in
                for try await _ in response.body { break }
            }
            #expect(stage.server.requests.allSatisfy { $0.fields["traceparent"] == "00-1" })
        }
        #expect(observer.isBalanced)
        #expect(observer.requests.map(\.bodies) == [["complete"], ["complete"], ["left"]])
        let hops = observer.requests.compactMap { $0.exchanges[0].ends[0].hop }
        #expect(hops.map(\.isConnectionReused) == [false, true, true])
        #expect(hops[1].bodyBytes == 3_000_000 && hops.allSatisfy { $0.ended.nanoseconds > 0 })
    }

    @Test func `a body that breaks off, and one that is cancelled, ended with an error`() async throws {
        let observer = RecordingObserver()
        try await Stage.with(tolerating: true, configure: { $0.observers = [observer] }) {
            (stage: Stage) async throws in
            stage.server.enqueue(.generated(length: 400_000).truncatedAfter(200_000))
            _ = try? await stage.session.get("cut")
            stage.server.enqueue(.init([.message(.init(200, fields: ["Content-Length": "9"], body: "half")), .stall]))
            let response = try await stage.session.stream("stalled")
            let reading = Task { for try await _ in response.body {} }
            await stage.session.tasks.cancelAll()
            _ = await reading.result
        }
        #expect(observer.isBalanced)
        #expect(observer.requests.map(\.bodies) == [["failed"], ["failed"]])
        #expect(observer.requests.allSatisfy { $0.exchanges[0].ends[0].error != nil })
    }

    @Test func `each connection's end is told, with its reason, age and uses`() async throws {
        let observer = RecordingObserver()
        try await Stage.with(configure: {
            $0.observers = [observer]
            $0.connections.maximumUses = 2
        }) { (stage: Stage) async throws in
            stage.server.respond { .response(fields: $0.target == "/bye" ? ["Connection": "close"] : [:], body: "x") }
            for _ in 0..<2 { try await stage.session.get("a") }
            try await stage.session.get("bye")
            try await stage.session.get("a")
        }
        let ends = observer.connections
        #expect(ends.map(\.reason) == [.worn, .unfit, .shutDown])
        #expect(ends.map(\.uses) == [2, 1, 1])
        #expect(Set(ends.map(\.number)).count == 3)
        #expect(ends.allSatisfy { $0.peer != nil && $0.age >= .zero && ($0.security != nil) == Stage.isSecure })
    }

    @Test func `a session that is released without a shutdown tells the end of its idle connections`() async throws {
        let observer = RecordingObserver()
        let server = try Stage.makeServer()
        defer { server.stop() }
        server.respond { _ in .response(body: "x") }
        var configuration = try Stage.configuration(for: server)
        configuration.observers = [observer]
        try await HTTPSession(configuration).get("a")
        try await eventually("its connection has ended", every: .milliseconds(5)) { !observer.connections.isEmpty }
        #expect(observer.connections.map(\.reason) == [.shutDown])
    }

    @Test func `the exchange of a segment that is refused ends while the others go on`() async throws {
        let (observer, folder) = (RecordingObserver(), try Folder())
        var options = HTTPSession.DownloadOptions()
        options.segments = HTTPSession.Segments(2, minimumLength: 128 << 10)
        let file = ServedFile(4 << 20, held: 100_000)
        file.change { state in
            let whole = LoopbackServer.Entity(length: 4 << 20, tag: #""one""#).whole
            guard let head = whole.steps.first else { return }
            state.instead = { _ in [head, .generated(0..<1000), .stall] }
        }
        try await Stage.with(tolerating: true, configure: { $0.observers = [observer] }) {
            (stage: Stage) async throws in
            file.serve(on: stage)
            let task = try stage.session.downloadTask("file", to: .folder(folder.path), transfer: options)
            task.resume()
            try await stage.eventually("the second exchange has ended") {
                observer.requests.first.map { $0.exchanges.count == 2 && !$0.exchanges[1].ends.isEmpty } ?? false
            }
            #expect(observer.requests[0].exchanges[0].ends.isEmpty)
            file.gate.open()
            #expect(try await task.value.byteCount == 4 << 20)
        }
        #expect(observer.isBalanced)
        #expect(observer.requests[0].bodies[1] == "left")
    }

    @Test func `a download that goes on has an exchange for each part`() async throws {
        let (observer, folder, clock) = (RecordingObserver(), try Folder(), ManualClock())
        try await Stage.with(clock: clock, tolerating: true, configure: { $0.observers = [observer] }) {
            (stage: Stage) async throws in
            ServedFile(1 << 20, cuts: [100_000, 200_000]).serve(on: stage)
            let task = try stage.session.downloadTask("file", to: .folder(folder.path))
            task.resume()
            try await clock.advance(by: .seconds(1), until: "the download is over") { task.resultIfEnded != nil }
            #expect(try await task.value.byteCount == 1 << 20)
        }
        #expect(observer.isBalanced)
        #expect(observer.requests[0].bodies == ["failed", "failed", "complete"])
        #expect(observer.requests[0].stepNames == ["resumed", "downloadResumed", "downloadResumed"])
    }
}
