import Dunlin
import DunlinTesting
import LeakChecking
import LedgerRows
import Screens
import Testing

@testable import DunlinDisplay

@Suite(.leakChecked, .timeLimit(.minutes(10))) struct `Display on a terminal` {
    /// A session whose downloads come in pieces when a gate is opened, and a display with a clock that stands still.
    private struct Stage {
        let clock = ManualClock()
        let paper: Paper
        let display: TerminalDisplay
        let transport = MockTransport()
        let session: HTTPSession

        init(columns: Int? = 60) throws {
            paper = Paper(columns: columns)
            display = TerminalDisplay(
                on: paper, style: DisplayStyle(hasColour: false, hasUnicode: false), clock: clock)
            var configuration = HTTPSession.Configuration(baseURL: "http://api.test", transport: transport)
            configuration.useLoopOfTest()
            session = try HTTPSession(configuration)
        }

        /// A body of a hundred bytes: half of it comes at once, and the rest when the gate is open.
        func task(_ path: String, _ gate: LoopbackServer.Gate, length: Int? = 100) throws
            -> HTTPSession.RequestTask<Bytes>
        {
            let half = Bytes([UInt8](repeating: 0, count: 50))
            transport.on(.get, "/\(path)").reply(
                .stream(length: length) { index in
                    // A body that broke off would end its line otherwise than the tests wait for.
                    if index == 1 { try await gate.opened(within: .seconds(300)) }
                    return index < 2 ? half : nil
                })
            return try session.task(HTTP.Target(path), as: .bytes)
        }

        func finish() async { await display.finish() }
    }

    @Test(.rows("UI-32")) func `a display shows a transfer from its beginning to its end`() async throws {
        let stage = try Stage()
        let gate = LoopbackServer.Gate()
        let task = try stage.task("disk.img", gate)
        ProgressDisplay("disk.img", on: stage.display).follow(task)
        task.resume()
        try await stage.clock.skippingWaits {
            try await stage.paper.wait { $0.last?.contains(" 50%") == true }
            gate.open()
            _ = try await task.value
            try await stage.paper.wait { $0.last?.contains("done") == true }
        }
        await stage.finish()
        #expect(stage.paper.shown.count == 1)
        #expect(stage.paper.screen?.isAtStartOfEmptyLine == true)
        #expect(stage.paper.screen?.problems == [])
    }

    @Test(.rows("AP-8")) func `several transfers are shown below each other, each with how it ended`() async throws {
        let stage = try Stage()
        let gate = LoopbackServer.Gate()
        let tasks = try ["a", "b", "c"].map { try stage.task($0, gate) }
        for (task, name) in zip(tasks, ["a", "b", "c"]) {
            ProgressDisplay(name, on: stage.display).follow(task)
            task.resume()
        }
        try await stage.clock.skippingWaits {
            try await stage.paper.wait { $0.filter { $0.contains(" 50%") }.count == 3 }
            tasks[1].cancel()
            try await stage.paper.wait { $0.first?.hasPrefix("b  ") == true && $0[0].contains("stop") }
            #expect(stage.paper.shown.dropFirst().map { $0.prefix(1) } == ["a", "c"])
            gate.open()
            for task in tasks { _ = await task.result }
            try await stage.paper.wait { $0.filter { $0.contains("done") }.count == 2 }
        }
        await stage.finish()
    }

    @Test func `a failed transfer's line gives the reason`() async throws {
        let stage = try Stage(columns: 120)
        stage.transport.on(.get, "/x").fail(.connectionReset)
        let task = try stage.session.task("x", as: .bytes)
        ProgressDisplay("x", on: stage.display).follow(task)
        let error = await #expect(throws: NetworkError.self) { try await task.value }
        try await stage.clock.skippingWaits {
            try await stage.paper.wait { $0.last?.hasPrefix("x  failed: \(error?.reason ?? "?")") == true }
        }
    }

    @Test(.rows("UI-30")) func `a transfer that is already over is shown once, as it ended`() async throws {
        let stage = try Stage()
        let gate = LoopbackServer.Gate()
        gate.open()
        let task = try stage.task("a", gate)
        _ = try await task.value
        ProgressDisplay("a", on: stage.display).follow(task)
        try await stage.clock.skippingWaits { try await stage.paper.wait { $0.last?.contains("done") == true } }
        await stage.finish()
        #expect(stage.paper.shown.count == 1)
    }

    @Test(.rows("UI-34")) func `a bar follows one transfer, and another replaces it`() async throws {
        let stage = try Stage()
        let (first, second) = (LoopbackServer.Gate(), LoopbackServer.Gate())
        let (old, new) = (try stage.task("old", first), try stage.task("new", second, length: nil))
        let bar = ProgressDisplay("x", on: stage.display)
        bar.follow(old)
        old.resume()
        try await stage.clock.skippingWaits {
            try await stage.paper.wait { $0.last?.contains(" 50%") == true }
            bar.follow(new)
            new.resume()
            try await stage.paper.wait { $0.last?.contains("50 B") == true && $0.last?.contains("%") == false }
            first.open()
            _ = try await old.value
            second.open()
            _ = try await new.value
            try await stage.paper.wait { $0.last?.contains("done") == true }
        }
        await stage.finish()
        #expect(stage.paper.shown.count == 1)
    }

    @Test(arguments: [false, true])
    func `a bar ends its observation of a transfer that it no longer follows`(isReplaced: Bool) async throws {
        let stage = try Stage()
        let bar = ProgressDisplay("x", on: stage.display)
        let (progress, source) = AsyncStream.makeStream(of: HTTPSession.TransferProgress.self)
        let (ends, end) = AsyncStream.makeStream(of: Void.self)
        source.onTermination = { _ in end.finish() }
        bar.follow(progress)
        if isReplaced { bar.follow(AsyncStream { nil }) } else { bar.stop() }
        for await _ in ends {}
        withExtendedLifetime((progress, source)) {}
        await stage.finish()
    }

    @Test(.rows("UI-34")) func `a released bar keeps neither its task nor its display alive`() async throws {
        let stage = try Stage()
        let gate = LoopbackServer.Gate()
        weak var task: HTTPSession.RequestTask<Bytes>?
        do {
            let made = try stage.task("never", gate)
            task = made
            ProgressDisplay("never", on: stage.display).follow(made)
        }
        #expect(task == nil)
        weak var display: TerminalDisplay?
        let other = try stage.task("other", gate)
        do {
            let made = TerminalDisplay(on: stage.paper, clock: stage.clock)
            display = made
            ProgressDisplay("other", on: made).follow(other)
            await made.finish()
        }
        gate.open()
        _ = try await other.value
        // A draw may wait for the next frame, and keeps the display as long.
        try await stage.clock.skippingWaits { try await eventually("its end") { display == nil } }
    }

    @Test func `a display finishes with what was shown last, even if nothing is over`() async throws {
        let stage = try Stage()
        let bar = ProgressDisplay("a", on: stage.display)
        bar.show(.init(wireBytes: 25, totalBytes: 100))
        let spinner = Spinner("busy", on: stage.display)
        spinner.start()
        await stage.finish()
        #expect(stage.paper.shown.count == 1 && stage.paper.shown[0].contains(" 25%"))
        #expect(stage.paper.screen?.isAtStartOfEmptyLine == true)
        bar.show(.init(wireBytes: 100, totalBytes: 100, isFinal: true))
        await stage.finish()
        #expect(stage.paper.shown.count == 2 && stage.paper.shown[1].contains("done"))
    }

    @Test func `printed lines appear above the live lines, in order and without control characters`() async throws {
        let stage = try Stage()
        let line = stage.display.addLine("status")
        for number in 0..<100 { stage.display.print("line \(number)\u{1B}[2J") }
        try await stage.clock.skippingWaits { try await stage.paper.wait { $0.count == 101 } }
        #expect(stage.paper.shown == (0..<100).map { "line \($0)[2J" } + ["status"])
        line.show("other")
        try await stage.clock.skippingWaits { try await stage.paper.wait { $0.last == "other" } }
        line.remove()
        await stage.finish()
        #expect(stage.paper.shown.last == "line 99[2J")
    }

    @Test(.rows("UI-35")) func `a display writes ten frames a second at most, and none while nothing changes`()
        async throws
    {
        let stage = try Stage()
        let bar = ProgressDisplay("a", on: stage.display)
        let start = stage.clock.now
        try await stage.clock.skippingWaits {
            for percent in 1...99 {
                for tenth in 0..<10 { bar.show(.init(wireBytes: percent * 10 + tenth, totalBytes: 1000)) }
                try await stage.paper.wait { $0.last?.contains(" \(percent)%") == true }
            }
            // A frame that was drawn between two tenths is followed by one with the last of them.
            try await stage.paper.wait { $0.last?.contains("999 B") == true }
        }
        let frames = Int(start.duration(to: stage.clock.now) / .milliseconds(100)) + 1
        let count = stage.paper.writes.count
        #expect(count <= frames)
        try await stage.clock.advance(by: .seconds(60))
        #expect(stage.paper.writes.count == count)
        await stage.finish()
    }

    @Test(.rows("UI-35")) func `without a terminal, progress is written on lines below each other`() async throws {
        let stage = try Stage(columns: nil)
        let gate = LoopbackServer.Gate()
        let task = try stage.task("a", gate)
        ProgressDisplay("a", on: stage.display).follow(task)
        let spinner = Spinner("busy", on: stage.display)
        spinner.start()
        task.resume()
        // Time stands still until then: what came before would have lines of its own.
        for await step in task.downloadProgress where step.wireBytes == 50 { break }
        try await stage.clock.skippingWaits {
            try await stage.paper.wait { $0.contains { $0.hasPrefix("a: 50%, 50 B of 100 B") } }
            gate.open()
            _ = try await task.value
            try await stage.paper.wait { $0.contains { $0.hasPrefix("a: done, 100 B") } }
        }
        await stage.finish()
        // Between its last byte and its end it may be seen at 100 %, which is a milestone too.
        let shown = stage.paper.shown.filter { !$0.hasPrefix("a: 100%") }
        #expect(shown.count == 3 && shown.contains("busy"))
        #expect(!stage.paper.writes.joined().contains { $0 == "\u{1B}" || $0 == "\r" })
    }

    @Test(.rows("UI-33")) func `a display that is not animated writes lines below each other`() async throws {
        let paper = Paper(columns: 80)
        let display = TerminalDisplay(on: paper, isAnimated: false, clock: ManualClock())
        ProgressDisplay("a", on: display).show(.init(wireBytes: 50, totalBytes: 100, isFinal: true))
        await display.finish()
        #expect(paper.writes == ["a: 50%, 50 B of 100 B\n"])
    }

    @Test func `a batch's line shows how many requests have ended and how many failed`() async throws {
        let stage = try Stage()
        stage.transport.on(.get, "/good").respond(body: "1234").always()
        stage.transport.on(.get, "/bad").respond(.notFound).always()
        let batch = try stage.session.batch(["good", "bad", "good"].map { .init($0) }, as: .bytes)
        BatchDisplay("all", on: stage.display).follow(batch)
        _ = await batch.results
        try await stage.clock.skippingWaits {
            try await stage.paper.wait { $0.last?.contains("3/3") == true && $0.last?.hasSuffix("1 failed") == true }
        }
        await stage.finish()
        #expect(stage.paper.shown.count == 1)
    }

    @Test func `finish returns for every caller while others still draw`() async throws {
        let stage = try Stage()
        let display = stage.display
        try await stage.clock.skippingWaits {
            await withTaskGroup(of: Void.self) { group in
                for number in 0..<8 {
                    group.addTask {
                        for round in 0..<25 {
                            display.print("\(number) \(round)")
                            let spinner = Spinner("\(number)", on: display)
                            spinner.start()
                            if round.isMultiple(of: 5) { await display.finish() }
                        }
                        await display.finish()
                    }
                }
            }
        }
        let numbers = stage.paper.shown
        #expect(numbers.count == 200 && Set(numbers).count == 200)
    }
}
