import Dunlin
import DunlinTesting
import Folders
import Mocking
import Synchronization
import Testing

/// One performance of a recorded play: what it plays with, and what it shows.
final class Take: Sendable {
    let mock: MockTransport
    let clock: ManualClock
    let loop: PrivateLoop
    let network = ManualNetwork(.wired)
    let folder: Folder
    let transcript: Transcript
    let observer = RecordingObserver()
    /// For what must wait until the play goes on.
    let gate = LoopbackServer.Gate()
    let proxy: LoopbackProxy?
    let loopback: LoopbackServer?
    private let answers = Mutex<(list: [MockTransport.Outcome], next: Int)>(([], 0))

    init(of play: Recorded) throws {
        (clock, folder) = (ManualClock(), try Folder())
        mock = MockTransport(clock: clock)
        loop = try PrivateLoop.single(clock: clock)
        loopback = play.isOnLoopback ? try LoopbackServer() : nil
        proxy = try play.proxy?.start()
        let ports = [("127.0.0.1", loopback?.port), ("localhost", loopback?.port), ("127.0.0.1", proxy?.port)]
        let words = zip(ports, ["SERVER", "OTHER", "PROXY"]).compactMap { port, word in
            port.1.map { ("\(port.0):\($0)", word) }
        }
        transcript = Transcript(words + [(folder.path, "FOLDER")], chancy: Set(HTTP.Phase.allCases))
    }

    /// The server of a play on loopback.
    func server() throws -> LoopbackServer { try #require(loopback) }

    func stop() {
        loopback?.stop()
        proxy?.stop()
    }

    /// A session's configuration, before the play's own changes.
    func configuration(isWatched: Bool) -> HTTPSession.Configuration {
        var configuration = HTTPSession.Configuration(baseURL: loopback?.baseURL ?? "http://api.test")
        configuration.fields = ["User-Agent": "dunlin", "Accept": "*/*", "Accept-Encoding": "gzip, deflate"]
        if loopback == nil { configuration.transport = mock }
        configuration.timeouts = .patient
        configuration.random = { 0 }
        configuration.reachability = Reachability(source: network)
        configuration.use(loop)
        guard isWatched else { return configuration }
        configuration.hooks = RecordingHooks.hooks()
        configuration.observers = [observer]
        return configuration
    }

    /// The transport gives these answers, in order, to whatever comes.
    func serve(_ list: [MockTransport.Outcome]) {
        answers.withLock { $0 = (list, 0) }
        mock.otherwise { [self] request in
            let answer = answers.withLock { answers -> MockTransport.Outcome? in
                defer { answers.next += 1 }
                return answers.next < answers.list.count ? answers.list[answers.next] : nil
            }
            return answer ?? .respond(418, body: "no answer was planned for \(request.method) \(request.target)")
        }
    }

    func serve(_ list: MockTransport.Outcome...) { serve(list) }

    /// The transport answers `answer` once the gate is open.
    func serveBehindGate(_ answer: @escaping @Sendable (MockTransport.RecordedRequest) -> MockTransport.Outcome) {
        mock.otherwise { [gate] request in
            try await gate.opened()
            return answer(request)
        }
    }
}

// MARK: - Asking

extension Take {
    /// Asks, while the clock skips what is waited for, and notes what the caller gets.
    func note<Value: Sendable>(_ label: String, _ work: @escaping @Sendable () async throws -> Value) async {
        await noteNow(label) { [clock] in try await clock.skippingWaits(work) }
    }

    /// The same, by a clock that stands still.
    func noteNow<Value>(_ label: String, _ work: () async throws -> Value) async {
        do {
            let value = try await work()
            transcript.note("\(label): \(transcript.text(value))\(fields(of: value))")
        } catch {
            // How often a clock was moved on before the error is chance.
            let words = "\(error)".replacing(#/, after [0-9.]+ \S+\):/#, with: ", after a time):")
            var lines = ["\(label): failed, \(transcript.text(error))", "    says \(words)"]
            if let curl = (error as? NetworkError)?.curl() { lines.append("    \(curl)") }
            transcript.note(lines.joined(separator: "\n"))
        }
    }

    private func fields<Value>(of value: Value) -> String {
        let fields =
            switch value {
            case let response as HTTPSession.Response<String>: response.fields
            case let response as HTTPSession.Response<Bytes>: response.fields
            case let response as HTTPSession.Response<HTTPSession.DownloadedFile>: response.fields
            default: Fields()
            }
        // The server's own of a loopback play come and go with its clock.
        return fields.filter { $0.name.lowercased() != "date" }.map { field in
            "\n    \(field.name): \(field.name == "Age" ? "AGE" : field.value)"
        }.joined()
    }

    func get(
        _ label: String, _ session: HTTPSession, _ target: HTTP.Target = "/a", _ options: HTTPSession.Options = .init()
    ) async {
        await note(label) { try await session.get(target, options: options, as: .string) }
    }

    func send(
        _ method: HTTP.Method, _ session: HTTPSession, _ target: HTTP.Target = "/a", body: RequestBody = .string("x"),
        _ options: HTTPSession.Options = .init()
    ) async {
        await note("\(method)".lowercased()) {
            try await session.request(target, method: method, body: body, options: options, as: .string)
        }
    }

    /// Reads a response piece by piece.
    func stream(
        _ label: String, _ session: HTTPSession, _ target: HTTP.Target = "/a", _ options: HTTPSession.Options = .init()
    ) async {
        await note(label) {
            try await session.withResponse(from: target, options: options) { response in
                var text = "\(response.status.code)"
                for try await piece in response.body { text += " | \(String(decoding: piece.array, as: UTF8.self))" }
                return text
            }
        }
    }

    func download(
        _ label: String, _ session: HTTPSession, _ target: HTTP.Target = "/a", as name: String = "file",
        _ options: HTTPSession.Options = .init(), resuming: HTTPSession.Resuming = .never
    ) async {
        let destination = HTTPSession.Destination.file("\(folder.path)/\(name)")
        let work: @Sendable () async throws -> HTTPSession.Response<HTTPSession.DownloadedFile> = {
            try await session.download(target, options: options, to: destination, resuming: resuming)
        }
        // The waits before a download goes on are not those of retries.
        await noteNow(label) { [clock] in
            resuming == .never ? try await clock.skippingWaits(work) : try await clock.movingOn(work)
        }
        transcript.note("    in the file: \(folder.text(of: name))")
    }

    /// Two callers: B asks when A's request is with the server, and both wait until the gate opens. `isShared` says
    /// whether B waits for A's answer.
    func pair(
        _ session: HTTPSession, _ first: HTTPSession.Options = .init(), _ second: HTTPSession.Options = .init(),
        at target: HTTP.Target = "/a", isShared: Bool = true
    ) async throws {
        let one = try session.task(target, options: first, as: .string)
        transcript.number(one.id)
        one.resume()
        try await mock.waitForRequests(1, within: .seconds(20))
        let two = try session.task(target, options: second, as: .string)
        transcript.number(two.id)
        two.resume()
        if isShared {
            try await eventually("B waits for A", following: loop, within: .seconds(20)) {
                await session.gauges().coalesced == 1
            }
        } else {
            try await mock.waitForRequests(2, within: .seconds(20))
        }
        gate.open()
        await noteNow("A") { try await one.response }
        await noteNow("B") { try await two.response }
    }
}
