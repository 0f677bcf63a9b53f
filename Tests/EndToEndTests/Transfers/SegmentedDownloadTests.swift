import Children
import Dunlin
import DunlinTesting
import Folders
import Foundation
import Synchronization
import Testing

/// Files that several exchanges bring side by side.
@Suite(.inClearAndOverTLS, .timeLimit(.minutes(10)))
struct `A download in segments` {
    typealias Handle = HTTPSession.RequestTask<HTTPSession.DownloadedFile>

    private static let length = 4 << 20

    private static func options(
        _ count: Int = 4, _ resuming: HTTPSession.Resuming = .whileRunning
    ) -> HTTPSession.DownloadOptions {
        var options = HTTPSession.DownloadOptions(resuming: resuming)
        options.segments = HTTPSession.Segments(count, minimumLength: 128 << 10)
        return options
    }

    /// Waits for the end, while the clock moves; lets the whole go on once so many parts were asked for.
    private static func end(
        of task: Handle, _ file: ServedFile, _ stage: Stage, _ clock: ManualClock, after parts: Int = 3
    ) async throws {
        task.resume()
        try await clock.advance(by: .milliseconds(100), until: "the download is over") {
            if stage.server.partCount >= parts { file.gate.open() }
            return task.resultIfEnded != nil
        }
    }

    @Test func `a download in segments comes by several exchanges at once, with one progress`() async throws {
        let folder = try Folder()
        let file = ServedFile(Self.length, held: 100_000)
        try await Stage.with(tolerating: true) { (stage: Stage) async throws in
            file.serve(on: stage)
            let task = try stage.session.downloadTask("file", to: .folder(folder.path), transfer: Self.options())
            let progress = task.downloadProgress
            task.resume()
            // All but what the first one has for itself comes without it.
            try await stage.eventually("most has come") {
                task.downloaded.wireBytes >= Self.length - (256 << 10)
            }
            #expect(await stage.session.tasks.all.count == 1)
            file.gate.open()
            let response = try await task.response
            #expect(response.value.byteCount == Self.length)
            #expect(response.value.resumedAt == 0)
            #expect(try folder.contents("file") == file.contents)
            #expect(try folder.names() == ["file"])
            #expect(response.metrics.hops.count >= 4)
            #expect(stage.server.ranges.first == .some(nil) && stage.server.partCount >= 3)
            let parts = stage.server.requests.dropFirst()
            #expect(
                parts.allSatisfy { $0.fields["if-range"] == #""one""# && $0.fields["accept-encoding"] == "identity" })
            var last = 0
            for await step in progress {
                #expect(step.wireBytes >= last && step.wireBytes <= Self.length)
                last = step.wireBytes
            }
            #expect(task.downloaded.wireBytes == Self.length && task.downloaded.fraction == 1)
        }
    }

    static let faults: [(String, [LoopbackServer.EntityFault])] = [
        ("reset", [.reset(after: 1000), .reset(after: 200_000)]), ("short", [.none, .short(after: 5000)]),
        ("stall", [.stall(after: 1000)]), ("silent", [.none, .stall(after: 0)]),
        ("shifted", [.rangeShifted(by: 10)]), ("another length", [.none, .rangeSaid("bytes 0-9/10")]),
        ("nonsense", [.rangeSaid("bytes x")]), ("ignored", [.rangeIgnored, .rangeIgnored, .rangeIgnored]),
        ("busy", [.status(503), .status(429), .none]), ("forbidden", [.status(403), .status(404), .status(403)]),
        ("nothing works", Array(repeating: .reset(after: 0), count: 12)),
    ]

    @Test(arguments: faults)
    func `a download in segments is whole whatever happens to some of its segments`(
        name: String, faults: [LoopbackServer.EntityFault]
    ) async throws {
        let folder = try Folder()
        let clock = ManualClock()
        let file = ServedFile(Self.length, held: 100_000)
        file.change { $0.partFaults = faults }
        try await Stage.with(clock: clock, tolerating: true) { configuration in
            configuration.timeouts.readIdle = .seconds(20)
            configuration.timeouts.firstByte = .seconds(20)
        } _: { (stage: Stage) async throws in
            file.serve(on: stage)
            let task = try stage.session.downloadTask("file", to: .folder(folder.path), transfer: Self.options())
            try await Self.end(of: task, file, stage, clock, after: faults.count > 6 ? 1 : 3)
            let response = try await task.response
            #expect(response.value.byteCount == Self.length)
            #expect(try folder.contents("file") == file.contents)
            #expect(try folder.names() == ["file"])
            #expect(task.downloaded.fraction == 1)
            #expect(stage.server.ranges.count { $0 == nil } == 1, "the whole was asked for once")
        }
    }

    @Test(arguments: [true, false]) func `a download in segments is checked against its digest as a whole`(
        isRight: Bool
    ) async throws {
        let folder = try Folder()
        let file = ServedFile(Self.length, held: 100_000)
        try await Stage.with(tolerating: true) { (stage: Stage) async throws in
            file.serve(on: stage)
            var options = Self.options(4, .ifValidatorMatches)
            let digest = try await Child.sha256(of: Data(file.contents))
            options.digest = try ContentDigest(.sha256, hex: isRight ? digest : String(digest.reversed()))
            let task = try stage.session.downloadTask("file", to: .folder(folder.path), transfer: options)
            task.resume()
            try await stage.eventually("others have begun") { stage.server.partCount >= 3 }
            file.gate.open()
            if isRight {
                #expect(try await task.value.digest == options.digest)
                #expect(try folder.contents("file") == file.contents)
            } else {
                let error = try await NetworkError.thrown { _ = try await task.value }
                #expect(error.code == .digestMismatch)
                #expect(error.reason.contains(digest))
                #expect(try folder.names().isEmpty)
            }
        }
    }

    @Test func `a download in segments begins anew in one piece when the file has changed`() async throws {
        let folder = try Folder()
        let clock = ManualClock()
        let file = ServedFile(Self.length, held: 100_000)
        file.change { $0.partFaults = [.none, .changed] }
        try await Stage.with(clock: clock, tolerating: true) { (stage: Stage) async throws in
            file.serve(on: stage)
            let task = try stage.session.downloadTask("file", to: .folder(folder.path), transfer: Self.options())
            try await Self.end(of: task, file, stage, clock, after: 2)
            let response = try await task.response
            #expect(response.fields["etag"] == file.entity.tag)
            #expect(try folder.contents("file") == file.contents)
            #expect(try folder.names() == ["file"])
            #expect(stage.server.ranges.count { $0 == nil } == 2)
            #expect(!stage.server.requests.contains { $0.fields["if-range"] == file.entity.tag })
        }
    }

    static let unfit: [(String, @Sendable (inout ServedFile.State) -> Void)] = [
        ("no ranges", { $0.entity.hasRanges = false }), ("no tag", { $0.entity.tag = nil }),
        ("weak tag", { $0.entity.tag = #"W/"one""# }), ("small", { $0.entity.length = (256 << 10) - 1 }),
        ("coded", { $0.entity.fields = ["Content-Encoding": "x-own"] }), ("empty", { $0.entity.length = 0 }),
    ]

    @Test(arguments: unfit)
    func `a download comes by one exchange where it cannot be divided`(
        name: String, change: @Sendable (inout ServedFile.State) -> Void
    ) async throws {
        let folder = try Folder()
        let file = ServedFile(Self.length)
        file.change(change)
        try await Stage.with(tolerating: true) { (stage: Stage) async throws in
            file.serve(on: stage)
            _ = try await stage.session.download("file", to: .folder(folder.path), transfer: Self.options())
            #expect(stage.server.ranges == [nil])
            #expect(try folder.contents("file") == file.contents)
        }
    }

    @Test func `a download comes by one exchange if a hook is told of its data or it may not go on`() async throws {
        let folder = try Folder()
        let file = ServedFile(Self.length)
        try await Stage.with(tolerating: true) { (stage: Stage) async throws in
            file.serve(on: stage)
            let told = Mutex(0)
            var options = HTTPSession.Options()
            options.hooks.data = { _, piece in told.withLock { $0 += piece.count } }
            _ = try await stage.session.download(
                "file", options: options, to: .file("\(folder.path)/told"), transfer: Self.options())
            #expect(told.withLock { $0 } == Self.length)
            _ = try await stage.session.download(
                "file", to: .file("\(folder.path)/never"), transfer: Self.options(4, .never))
            #expect(stage.server.ranges == [nil, nil])
        }
    }

    @Test(arguments: [1, 2]) func `a download in segments makes do with the connections there are`(cap: Int)
        async throws
    {
        let folder = try Folder()
        let file = ServedFile(Self.length, held: cap == 1 ? nil : 100_000)
        try await Stage.with(tolerating: true) { configuration in
            configuration.connections.perOrigin = cap
        } _: { (stage: Stage) async throws in
            file.serve(on: stage)
            let task = try stage.session.downloadTask("file", to: .folder(folder.path), transfer: Self.options(8))
            task.resume()
            if cap == 2 { try await stage.eventually("another has begun") { stage.server.partCount >= 1 } }
            file.gate.open()
            #expect(try await task.value.byteCount == Self.length)
            #expect(try folder.contents("file") == file.contents)
            if cap == 1 { #expect(stage.server.ranges == [nil]) }
            try await stage.expectHealthy()
        }
    }

    @Test func `a segment waits for a connection with the priority its download is given meanwhile`() async throws {
        let folder = try Folder()
        let file = ServedFile(Self.length, held: 100_000)
        try await Stage.with(tolerating: true) { configuration in
            configuration.connections.perOrigin = 2
        } _: { (stage: Stage) async throws in
            let (session, gate) = (stage.session, LoopbackServer.Gate())
            file.serve(on: stage)
            stage.server.route(.get, "/first", .response(body: "1").waiting(for: gate))
            stage.server.route(.get, "/other", .response(body: "2"))
            let first = Task { try await session.get("first", as: .string).value }
            _ = try await stage.server.waitForRequests(1)
            let task = try session.downloadTask(
                "file", options: .init(priority: .low), to: .folder(folder.path), transfer: Self.options(2))
            task.resume()
            try await stage.eventually("its second exchange waits") { session.connections.waiting == 1 }
            let other = Task { try await session.get("other", as: .string).value }
            try await stage.eventually("another waits behind it") { session.connections.waiting == 2 }
            #expect(await session.tasks[task.id]?.setPriority(.high) == true)
            gate.open()
            try await stage.eventually("one of them goes on") { stage.server.requests.count >= 3 }
            #expect(stage.server.requests[2].target == "/file" && stage.server.ranges[2] != nil)
            file.gate.open()
            #expect(try await [first.value, other.value] == ["1", "2"])
            #expect(try await task.value.byteCount == Self.length)
            #expect(try folder.contents("file") == file.contents)
        }
    }

    @Test func `each segment is asked for at the original URL and redirected from there`() async throws {
        let folder = try Folder()
        let file = ServedFile(Self.length, held: 100_000)
        try await Stage.with(tolerating: true) { (stage: Stage) async throws in
            file.serve(on: stage)
            stage.server.route("/moved") { number, _ in .response(302, fields: ["Location": "/file?once=\(number)"]) }
            let task = try stage.session.downloadTask("moved", to: .file("\(folder.path)/x"), transfer: Self.options())
            task.resume()
            try await stage.eventually("others have begun") { stage.server.partCount >= 6 }
            file.gate.open()
            let response = try await task.response
            #expect(response.url.hasSuffix("/file?once=0"))
            #expect(try folder.contents("x") == file.contents)
            let asked = stage.server.requests.filter { $0.target != "/moved" }.map(\.target)
            #expect(Set(asked).count == asked.count, "each was led on for itself")
        }
    }

    @Test(arguments: [nil, 4], [HTTPSession.Resuming.whileRunning, .ifValidatorMatches])
    func `a resumed download goes on with what all segments brought, in segments or not`(
        segments: Int?, resuming: HTTPSession.Resuming
    ) async throws {
        let folder = try Folder()
        let file = ServedFile(Self.length, held: 100_000)
        file.change { $0.partFaults = Array(repeating: .stall(after: 300_000), count: 3) }
        try await Stage.with(tolerating: true) { (stage: Stage) async throws in
            file.serve(on: stage)
            let task = try stage.session.downloadTask(
                "file", to: .folder(folder.path), transfer: Self.options(4, resuming))
            task.resume()
            try await stage.eventually("all stand still") { task.downloaded.wireBytes == 1_000_000 }
            let data = try #require(await task.cancelProducingResumeData())
            #expect(data.offset == 100_000 && data.byteCount == 1_000_000)
            #expect(try JSONDecoder().decode(ResumeData.self, from: JSONEncoder().encode(data)) == data)
            file.change { $0.partFaults = [] }
            let before = stage.server.bytesSent
            let steps = Mutex<[HTTPSession.TransferProgress]>([])
            var options = Self.options(segments ?? 1, resuming)
            if segments == nil { options.segments = nil }
            let other = try HTTPSession(stage.session.configuration)
            let response =
                if resuming == .ifValidatorMatches {
                    try await other.download("file", to: .folder(folder.path), transfer: options) { step in
                        steps.withLock { $0.append(step) }
                    }
                } else {
                    try await other.download(resumeData: data, to: .folder(folder.path), transfer: options) { step in
                        steps.withLock { $0.append(step) }
                    }
                }
            #expect(response.value.resumedAt == 1_000_000)
            #expect(response.value.byteCount == Self.length)
            #expect(try folder.contents("file") == file.contents)
            #expect(try folder.names() == ["file"])
            if segments == nil { #expect(stage.server.bytesSent - before < Self.length - 1_000_000 + 100_000) }
            let moving = steps.withLock { $0 }.filter { $0.totalBytes != nil }
            #expect(moving.allSatisfy { $0.wireBytes >= 1_000_000 && $0.totalBytes == Self.length })
            #expect(moving.last?.fraction == 1)
            await other.shutdown()
        }
    }

    @Test(arguments: [1, 4]) func `a download with a single gap left asks for that gap alone`(segments: Int)
        async throws
    {
        let folder = try Folder()
        let file = ServedFile(Self.length, held: 100_000)
        try await Stage.with(tolerating: true) { (stage: Stage) async throws in
            file.serve(on: stage)
            var options = Self.options(2, .ifValidatorMatches)
            options.segments?.minimumLength = 3 << 19
            let task = try stage.session.downloadTask("file", to: .folder(folder.path), transfer: options)
            task.resume()
            try await stage.eventually("another has begun") { stage.server.partCount == 1 }
            let range = try #require(stage.server.ranges[1]).dropFirst("bytes=".count)
            let end = try #require(Int(range.prefix { $0 != "-" }))
            let there = 100_000 + Self.length - end
            try await stage.eventually("the far end is there") { task.downloaded.wireBytes == there }
            _ = try #require(await task.cancelProducingResumeData())
            options.segments?.count = segments
            options.startsOverIfDamaged = false
            let response = try await stage.session.download("file", to: .folder(folder.path), transfer: options)
            #expect(response.value.resumedAt == there)
            #expect(stage.server.ranges.suffix(1) == ["bytes=100000-\(end - 1)"])
            #expect(try folder.contents("file") == file.contents)
        }
    }

    @Test func `a suspended download in segments does not end until it is resumed`() async throws {
        let folder = try Folder()
        let file = ServedFile(Self.length, held: 100_000)
        try await Stage.with(tolerating: true) { (stage: Stage) async throws in
            file.serve(on: stage)
            let task = try stage.session.downloadTask("file", to: .folder(folder.path), transfer: Self.options())
            task.resume()
            try await stage.eventually("others have begun") { stage.server.partCount >= 3 }
            task.suspend()
            file.gate.open()
            stage.server.route(.get, "/other", .response(body: "x"))
            for _ in 0..<20 { _ = try await stage.session.get("other", as: .bytes) }
            #expect(task.resultIfEnded == nil)
            task.resume()
            #expect(try await task.value.byteCount == Self.length)
            #expect(try folder.contents("file") == file.contents)
        }
    }

    @Test func `a download in segments fails when a segment never comes, and leaves what there is`() async throws {
        let folder = try Folder()
        let clock = ManualClock()
        let faults = Array(repeating: LoopbackServer.EntityFault.reset(after: 0), count: 100)
        let file = ServedFile(Self.length, held: 100_000)
        file.change { $0.partFaults = [.reset(after: 50_000)] + faults }
        try await Stage.with(clock: clock, tolerating: true) { configuration in
            configuration.timeouts.readIdle = .seconds(3)
        } _: { (stage: Stage) async throws in
            file.serve(on: stage)
            let task = try stage.session.downloadTask(
                "file", to: .folder(folder.path), transfer: Self.options(4, .ifValidatorMatches))
            try await Self.end(of: task, file, stage, clock, after: .max)
            let error = try await NetworkError.thrown { _ = try await task.value }
            #expect(error.code == .connectionClosed)
            #expect(try #require(error.resumeData).byteCount == 150_000)
            #expect(try folder.names() == [".file.dunlin-part", ".file.dunlin-record"])
        }
    }

    @Test(arguments: 0..<8 as Range<UInt64>)
    func `a download in segments can be cancelled at any moment, and goes on from there`(seed: UInt64) async throws {
        let folder = try Folder()
        var dice = SeededGenerator(seed: seed)
        let file = ServedFile(1 << 20)
        try await Stage.with(tolerating: true) { (stage: Stage) async throws in
            file.serve(on: stage)
            for round in 0..<12 {
                var options = Self.options(round % 3 == 2 ? 1 : 4, .ifValidatorMatches)
                options.overwrites = true
                options.segments?.minimumLength = 16 << 10
                let task = try stage.session.downloadTask("file", to: .folder(folder.path), transfer: options)
                let moment = dice.next(below: 1_000_000)
                task.resume()
                try await stage.eventually("the moment has come") {
                    task.downloaded.wireBytes >= moment || task.resultIfEnded != nil
                }
                if dice.next(below: 2) == 0 { task.cancel() } else { _ = await task.cancelProducingResumeData() }
                if case .failure(let error) = await task.result {
                    #expect((error as? NetworkError)?.code == .cancelled)
                }
            }
            var options = Self.options(4, .ifValidatorMatches)
            options.overwrites = true
            _ = try await stage.session.download("file", to: .folder(folder.path), transfer: options)
            #expect(try folder.contents("file") == file.contents)
            #expect(try folder.names() == ["file"])
        }
    }

    @Test func `a download in segments ends when its Swift task is cancelled`() async throws {
        let folder = try Folder()
        let file = ServedFile(Self.length, held: 100_000)
        try await Stage.with(tolerating: true) { (stage: Stage) async throws in
            file.serve(on: stage)
            let task = Task {
                try await stage.session.download("file", to: .folder(folder.path), transfer: Self.options())
            }
            try await stage.eventually("others have begun") { stage.server.partCount >= 3 }
            task.cancel()
            await #expect(throws: CancellationError.self) { _ = try await task.value }
            #expect(try folder.names().isEmpty)
            try await stage.expectHealthy()
        }
    }

    @Test(arguments: [(0, 1), (17, 1), (4, 0), (-1, 1)])
    func `a download with impossible segment settings is refused`(count: Int, minimum: Int) async throws {
        try await Stage.with { (stage: Stage) async throws in
            var options = HTTPSession.DownloadOptions()
            options.segments = .init(count, minimumLength: minimum)
            let error = try await NetworkError.thrown {
                _ = try await stage.session.download("file", to: .temporary, transfer: options)
            }
            #expect(error.code == .invalidConfiguration)
            #expect(throws: NetworkError.self) {
                _ = try stage.session.downloadTask("file", to: .temporary, transfer: options)
            }
        }
    }
}
