import Dunlin
import DunlinTesting
import Folders
import FoundationEssentials
import Testing

/// The snippets of the guides to tasks, downloads, journals, queues and activity, word for word.
@Suite(.timeLimit(.minutes(10)))
struct `Guides to transfers` {
    private nonisolated struct Film: Codable, Equatable {
        var title: String
    }

    private nonisolated struct Album: Codable {
        var id: Int
    }

    private nonisolated struct Report: Codable {
        var lines: Int
    }

    /// A folder of a test's own, and a server with one file.
    private final class Stage {
        private let scratch: Folder
        var folder: String { scratch.path }
        let server: LoopbackServer
        let client: HTTPSession

        init(fields: Fields = [:], faults: LoopbackServer.EntityFault...) throws {
            scratch = try Folder()
            server = try LoopbackServer()
            let entity = LoopbackServer.Entity(length: 300_000, tag: "\"v1\"", fields: fields)
            server.serve(entity, at: "/images/disk.img", faults: faults)
            server.route(.get, "/films/7.mp4", .response(body: "film"))
            // A download stands still for as long as the machine needs to come to what is next.
            client = try HTTPSession(baseURL: server.baseURL) { $0.timeouts.readIdle = nil }
        }

        func holds(_ name: String) throws -> Bool {
            let expected = LoopbackServer.GeneratedBody.bytes(0..<300_000)
            return try scratch.contents(name) == expected
        }

        func end() async throws {
            await client.shutdown()
            server.stop()
        }
    }

    @Test func `the examples about tasks and hooks run as written`() async throws {
        let stage = try Stage()
        let path = "\(stage.folder)/photo.jpg"
        try Data("jpeg".utf8).write(to: URL(filePath: path))
        let transport = MockTransport()
        transport.on(.post, "/albums/7").respond(json: Receipt(parts: 1)).always()
        transport.on(.get, "/busy").respond(.tooManyRequests)
        transport.on(.get, "/never").never()
        let (recorded, end) = AsyncStream<String>.makeStream()
        let record: @Sendable (String, Duration) -> Void = { template, _ in end.yield(template) }

        var configuration = HTTPSession.Configuration(baseURL: "https://api.test/", transport: transport)
        configuration.hooks.metrics = { task, metrics in
            record(task.targetTemplate, metrics.total)
        }
        configuration.hooks.response = { _, head in
            head.status == .tooManyRequests ? .cancel : nil
        }

        let client = try HTTPSession(configuration)
        let task = try client.task(
            "albums/7", method: .post, body: .file(path),
            as: .json(Receipt.self))
        task.resume()
        for await step in task.uploadProgress {
            print(step.fraction ?? 0, step.timeLeft ?? .zero)
        }
        let receipt = try await task.value

        #expect(receipt.parts == 1 && transport.requests[0].body == "jpeg")
        let response = try await task.response
        #expect(response.value == receipt && response.status == .ok)
        var templates = recorded.makeAsyncIterator()
        #expect(await templates.next() == "albums/7")
        let busy = await #expect(throws: NetworkError.self) { try await client.get("busy") }
        #expect(busy?.code == .cancelled)
        let endless = try client.task("never", options: .init(tags: ["nightly"]), as: .bytes)
        endless.resume()
        for task in await client.tasks.all {
            print(task.id, task.method, task.targetTemplate, task.state)
        }
        await client.tasks.cancel(tagged: "nightly")

        let cancelled = await #expect(throws: NetworkError.self) { try await endless.value }
        #expect(cancelled?.code == .cancelled)
        try await stage.end()
    }

    @Test func `the examples about a download into a file run as written`() async throws {
        let stage = try Stage(fields: ["X-Large": "yes"])
        let (client, path) = (stage.client, "\(stage.folder)/disk.img")
        let (largeFiles, smallFiles) = ("\(stage.folder)/large", "\(stage.folder)/small")
        for folder in [largeFiles, smallFiles] {
            try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        }
        do {
            let file = try await client.download(
                "images/disk.img", to: .file(path)
            ) { step in
                print(step.fraction ?? 0, step.timeLeft ?? .zero)
            }
            print(file.value.path, file.value.byteCount)

            #expect(try stage.holds("disk.img"))
        }

        let sorted = try await client.download(
            "images/disk.img",
            to: .resolved { head, url in
                let isLarge = head.fields.contains("X-Large")
                return .folder(isLarge ? largeFiles : smallFiles)
            })

        #expect(sorted.value.path == "\(largeFiles)/disk.img")
        #expect(try stage.holds("large/disk.img"))
        try await stage.end()
    }

    @Test func `the examples about a download whose digest is known run as written`() async throws {
        let stage = try Stage()
        stage.server.route(.get, "/images/disk.img", .response(body: "film"))
        let (client, path) = (stage.client, "\(stage.folder)/disk.img")
        let text = "d0607f7ad2628b2af9158dfba06ce87166e66b15bf68f8f358f9aa27ccb7c321"
        var transfer = HTTPSession.DownloadOptions(
            overwrites: true, createsFolders: true)
        transfer.digest = try ContentDigest(.sha256, hex: text)
        transfer.bodyLimit = 4_000_000_000
        let file = try await client.download(
            "images/disk.img", to: .file(path), transfer: transfer)

        #expect(file.value.byteCount == 4)
        #expect(throws: ContentDigest.Malformed.self) { try ContentDigest(.sha256, hex: String(text.dropLast())) }
        transfer.digest = try ContentDigest(.sha256, hex: String(repeating: "0", count: 64))
        let other = await #expect(throws: NetworkError.self) {
            try await client.download("images/disk.img", to: .file(path), transfer: transfer)
        }
        #expect(other?.code == .digestMismatch)
        try await stage.end()
    }

    @Test(arguments: [false, true])
    func `the later of two downloads to one file fails, or replaces the file`(overwrites: Bool) async throws {
        let stage = try Stage()
        let path = "\(stage.folder)/disk.img"
        let (gate, open) = AsyncStream<Void>.makeStream()
        let transport = MockTransport()
        transport.on(.get, "/slow").reply(
            .stream { index in
                if index == 1 { for await _ in gate {} }
                return index == 0 ? "slow " : index == 1 ? "end" : nil
            })
        transport.on(.get, "/quick").respond(body: "quick")
        var configuration = HTTPSession.Configuration(baseURL: "http://api.test/", transport: transport)
        configuration.timeouts.readIdle = nil
        let client = try HTTPSession(configuration)
        let transfer = HTTPSession.DownloadOptions(overwrites: overwrites)
        let slow = try client.downloadTask("slow", to: .file(path), transfer: transfer)
        slow.resume()
        try await eventually("the first is on its way") { slow.downloaded.wireBytes == 5 }
        try await client.download("quick", to: .file(path), transfer: transfer)
        open.finish()
        var text: String { get throws { String(Bytes(try Data(contentsOf: URL(filePath: path)))) } }
        if overwrites {
            _ = try await slow.value
            #expect(try text == "slow end")
        } else {
            let error = await #expect(throws: NetworkError.self) { try await slow.value }
            let kept = try #require(error?.fileFailure?.keptAt)
            #expect(try error?.code == .fileNotMoved && text == "quick")
            #expect(try Data(contentsOf: URL(filePath: kept)) == Data("slow end".utf8))
        }
        try await stage.end()
    }

    @Test(arguments: [false, true])
    func `the second of two resumable downloads to one file fails at once`(overwrites: Bool) async throws {
        let stage = try Stage(faults: .stall(after: 100_000))
        let (client, path) = (stage.client, "\(stage.folder)/disk.img")
        let transfer = HTTPSession.DownloadOptions(overwrites: overwrites, resuming: .ifValidatorMatches)
        // It stands still for as long as the machine needs to come to the second.
        let patient = HTTPSession.Options(timeouts: .init(readIdle: .none, total: .none))
        let first = try client.downloadTask("images/disk.img", options: patient, to: .file(path), transfer: transfer)
        first.resume()
        try await eventually("the first is on its way") { first.downloaded.wireBytes == 100_000 }
        let error = await #expect(throws: NetworkError.self) {
            try await client.download("images/disk.img", to: .file(path), transfer: transfer)
        }
        #expect(error?.code == .fileNotCreated && error?.summary.contains("another download is writing it") == true)
        first.cancel()
        _ = try? await first.value
        try await stage.end()
    }

    @Test func `the examples about a download that is resumed run as written`() async throws {
        let stage = try Stage(faults: .stall(after: 100_000))
        let (client, path) = (stage.client, "\(stage.folder)/disk.img")
        var (resumedAt, isWhole) = (0, false)
        func goOn() async throws {
            let task = try client.downloadTask(
                "images/disk.img", to: .file(path))
            task.resume()

            for await step in task.downloadProgress where step.wireBytes == 100_000 { break }
            guard let data = await task.cancelProducingResumeData()
            else { return }

            #expect(!FileManager.default.fileExists(atPath: path))
            let file = try await client.download(
                resumeData: data, to: .file(path))

            (resumedAt, isWhole) = (file.value.resumedAt, try stage.holds("disk.img"))
        }
        try await goOn()
        #expect(resumedAt == 100_000 && isWhole)
        try await stage.end()
    }

    @Test func `the examples about a download that is resumed from another URL or a partial file run as written`()
        async throws
    {
        let stage = try Stage()
        let (client, part) = (stage.client, "\(stage.folder)/disk.img.part")
        let url = "\(stage.server.baseURL)/images/disk.img"
        let signedAnew = "\(url)?until=later"
        stage.server.serve(.init(length: 300_000, tag: "\"v1\""), at: "/images/disk.img?until=later")
        for isRenewed in [false, true] {
            let path = "\(stage.folder)/disk-\(isRenewed).img"
            try Data(LoopbackServer.GeneratedBody.bytes(0..<200_000).array).write(to: URL(filePath: part))
            if isRenewed {
                let data = try await ResumeData(partialFile: part, of: url, entityTag: "\"v1\"")
                let file = try await client.download(
                    resumeData: data, from: .url(signedAnew), to: .file(path))

                #expect(file.value.resumedAt == 200_000)
            } else {
                let data = try await ResumeData(
                    partialFile: part, of: url, entityTag: "\"v1\"")
                let file = try await client.download(
                    resumeData: data, to: .file(path))

                #expect(file.value.resumedAt == 200_000)
            }
            #expect(try stage.holds("disk-\(isRenewed).img"))
        }
        #expect(stage.server.requests.map(\.target) == ["/images/disk.img", "/images/disk.img?until=later"])
        try await stage.end()
    }

    @Test func `the examples about downloads in segments run as written`() async throws {
        let stage = try Stage()
        let client = stage.client
        do {
            let path = "\(stage.folder)/a.img"
            let file = try await client.download(
                "images/disk.img", to: .file(path),
                resuming: .ifValidatorMatches)

            #expect(try file.value.path == path && stage.holds("a.img"))
        }

        let path = "\(stage.folder)/b.img"
        var transfer = HTTPSession.DownloadOptions(
            resuming: .ifValidatorMatches)
        transfer.segments = HTTPSession.Segments(4)  // of 8 MiB at least
        let file = try await client.download(
            "images/disk.img", to: .file(path), transfer: transfer)

        #expect(try file.value.path == path && stage.holds("b.img"))
        try await stage.end()
    }

    @Test func `the examples about a journal run as written`() async throws {
        let stage = try Stage()
        let (client, folder, film) = (stage.client, "\(stage.folder)/journal", Film(title: "Waders"))
        let earlier = try await TransferJournal(in: folder, of: client)
        _ = try await earlier.download("films/7.mp4", to: .file("\(stage.folder)/earlier.mp4"), metadata: film)
        await earlier.close()

        let path = "\(stage.folder)/7.mp4"
        let journal = try await TransferJournal(in: folder, of: client)
        for transfer in try await journal.restoredTransfers() {
            if let film = try transfer.metadata(as: Film.self) {
                print("going on with", film.title)
            }
            transfer.resume()
        }

        do {
            let transfer = try await journal.download(
                "films/7.mp4", to: .file(path), metadata: film)
            let file = try await transfer.value.file

            #expect(file?.path == path && file?.byteCount == 4)
            #expect(try transfer.metadata(as: Film.self) == film)
        }
        try await journal.waitUntilEmpty()
        #expect(FileManager.default.fileExists(atPath: "\(stage.folder)/earlier.mp4"))

        let (token, signedAnew) = ("t", "\(stage.server.baseURL)/films/7.mp4?until=later")
        stage.server.route(.get, "/films/7.mp4?until=later", .response(body: "later"))
        let transfer = try await journal.download("films/8.mp4", to: .file("\(stage.folder)/8.mp4"))
        try transfer.resume(
            from: signedAnew,
            options: .init(fields: ["Authorization": token]))

        #expect(try await transfer.value.file?.byteCount == 5)
        #expect(stage.server.requests.last?.fields["Authorization"] == "t")
        try await stage.end()
    }

    @Test func `the examples about queues, priorities and dependencies run as written`() async throws {
        do {
            var configuration = HTTPSession.Configuration(
                baseURL: "https://api.example.com")
            configuration.queue = .init(running: 20, runningPerOrigin: 4)
            let client = try HTTPSession(configuration)

            #expect(client.configuration.queue.runningPerOrigin == 4)
            configuration.timeouts.queue = .seconds(30)
            #expect(try HTTPSession(configuration).configuration.timeouts.queue == .seconds(30))
        }
        do {
            var configuration = HTTPSession.Configuration()
            let limits = HTTPSession.QueueLimits(
                running: 20, runningPerOrigin: 4)
            configuration.queue = limits.shared {
                $0.fields["X-Tenant"] ?? ""
            }
            let client = try HTTPSession(configuration)
            configuration.timeouts.total = .seconds(5)
            let impatient = try HTTPSession(configuration)

            #expect(client.configuration.queue == impatient.configuration.queue)
            #expect(client.configuration.queue != limits)
        }

        let transport = MockTransport()
        transport.on(.get, "/report").respond(json: Report(lines: 1))
        transport.otherwise { _ in .respond(json: Album(id: 7)) }
        let client = try HTTPSession(baseURL: "http://api.test/") {
            $0.transport = transport
            $0.queue = .init(running: 20, runningPerOrigin: 4)
        }
        do {
            let task = try client.task(
                "albums/7", options: .init(priority: .low),
                as: .json(Album.self))
            task.resume()
            task.setPriority(.high)
            await client.tasks[task.id]?.setPriority(.high)

            #expect(task.priority == .high)
            #expect(try await task.value.id == 7)
        }

        let (upload, login) = (try client.task("upload", as: .bytes), try client.task("login", as: .bytes))
        var options = HTTPSession.Options()
        options.startsAfter = [upload.id, login.id]
        let report = try client.task(
            "report", options: options, as: .json(Report.self))

        report.resume()
        upload.resume()
        login.resume()
        #expect(try await report.value.lines == 1)
        #expect(transport.requests.count == 4 && transport.requests.last?.path == "/report")
        let batch = try client.batch(
            (1...100).map { .init("albums/\($0)") },
            running: 4, as: .json(Album.self))
        for await step in batch.progress {
            print(step.finished, "of", step.total)
        }
        let albums = try await batch.values

        #expect(albums.count == 100 && transport.requests.count == 104)
        await client.shutdown()
    }

    private final class Lamp {
        private let (states, end) = AsyncStream<Bool>.makeStream()

        var isOn = false {
            didSet { end.yield(isOn) }
        }

        /// Returns when it is switched to this.
        func isSwitched(to state: Bool) async -> Bool { await states.contains(state) }
    }

    @Test func `the examples about an activity indicator run as written`() async throws {
        do {
            let monitor = ActivityMonitor.shared

            #expect(await !monitor.isEnabled)
        }

        let (clock, transport, lamp) = (ManualClock(), MockTransport(), Lamp())
        transport.on(.get, "/x").never()
        let client = try HTTPSession(baseURL: "http://api.test/") {
            $0.transport = transport
            try $0.use(clock)
        }
        let monitor = ActivityMonitor(clock: clock)
        let show = Task {
            await monitor.follow(client)
            await monitor.enable()
            for await isActive in await monitor.changes {
                lamp.isOn = isActive
            }
        }
        #expect(await lamp.isSwitched(to: false))
        let task = try client.task("x", as: .bytes)
        task.resume()
        try await clock.waitForSleepers()
        try await clock.advance(by: .seconds(1))
        #expect(await lamp.isSwitched(to: true))
        task.cancel()
        show.cancel()
        await show.value
        await client.shutdown()
    }

    @Test func `the examples about activity that is no request run as written`() async throws {
        let monitor = ActivityMonitor()
        await monitor.enable()
        var rebuilt = 0
        func rebuildIndex() async throws { rebuilt += 1 }
        let token = monitor.beginActivity()

        token.end()

        try await monitor.withActivity { try await rebuildIndex() }

        #expect(rebuilt == 1)
        await monitor.disable()
    }
}
