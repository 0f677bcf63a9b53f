import Dunlin
import DunlinTesting
import Folders
import Synchronization
import Testing

/// The metrics of a file that comes by several exchanges at once: each exchange is told once.
@Suite(.inClearAndOverTLS, .timeLimit(.minutes(10)))
struct `The hops of a download in segments` {
    private static let length = 4 << 20

    private static var options: HTTPSession.DownloadOptions {
        var options = HTTPSession.DownloadOptions()
        options.segments = HTTPSession.Segments(4, minimumLength: 128 << 10)
        return options
    }

    private static func play(
        _ file: ServedFile, clock: ManualClock? = nil, _ play: (Stage, Completions, Folder) async throws -> Void
    ) async throws {
        let (folder, ends) = (try Folder(), Completions())
        try await Stage.with(
            clock: clock, tolerating: true,
            configure: {
                $0.hooks.completed = { ends.add($0) }
                $0.connections.perOrigin = 8
            }
        ) { (stage: Stage) async throws in
            file.serve(on: stage)
            try await play(stage, ends, folder)
        }
    }

    private static func expect(
        _ completion: HTTPSession.Completion, _ count: Int, _ location: SourceLocation = #_sourceLocation
    ) {
        let hops = completion.metrics.hops
        #expect(Set(hops).count == hops.count, "\(hops)", sourceLocation: location)
        #expect(hops.count == count, "\(hops)", sourceLocation: location)
        #expect(hops.allSatisfy { $0.bytesSent > 0 && $0.ended >= $0.started }, "\(hops)", sourceLocation: location)
        if let failure = completion.error as? NetworkError {
            #expect(failure.hop != nil && failure.hop == hops.last, sourceLocation: location)
        }
    }

    /// Nobody is stopped: each gives up by itself.
    @Test func `no hop of a download is told twice when no segment comes`() async throws {
        let clock = ManualClock()
        let file = ServedFile(Self.length, held: 100_000)
        file.change { $0.partFaults = Array(repeating: .reset(after: 0), count: 100) }
        try await Self.play(file, clock: clock) { stage, ends, folder in
            stage.server.respond { request in
                if request.fields["range"] != nil { return file.reply(to: request) }
                guard case .message(let head)? = file.entity.whole.steps.first else { return [.reset] }
                return [.message(head), .generated(0..<100_000), .waitForSignal(file.gate), .reset]
            }
            let task = try stage.session.downloadTask("file", to: .folder(folder.path), transfer: Self.options)
            task.resume()
            try await clock.advance(by: .milliseconds(100), until: "the download is over") {
                if stage.server.partCount >= 3 { file.gate.open() }
                return task.resultIfEnded != nil
            }
            let error = try await NetworkError.thrown { _ = try await task.value }
            #expect(error.code == .connectionClosed)
            Self.expect(try await ends.only(stage), stage.server.requests.count)
        }
    }

    enum End: CaseIterable {
        case overrun, cancelled, cancelledTask
    }

    /// What one brings, or its caller, ends the others.
    @Test(arguments: End.allCases) func `the hops of segments that are stopped are told too`(end: End) async throws {
        let (file, goOn) = (ServedFile(Self.length, held: 100_000), LoopbackServer.Gate())
        try await Self.play(file) { stage, ends, folder in
            let parts = Mutex(0)
            stage.server.respond { request in
                guard let range = request.fields["range"] else { return file.reply(to: request) }
                let number = parts.withLock { parts in
                    parts += 1
                    return parts
                }
                // The second has brought a part of what it was asked for, and the third nothing at all.
                if number == 2 { return file.entity.reply(to: request, .stall(after: 1000)) }
                if number == 3 { return [.stall] }
                // Of what was asked for it says that it brings half, and brings more.
                let ends = range.dropFirst("bytes=".count).split(separator: "-").compactMap { Int($0) }
                let half = ends[0]..<(ends[0] + ((ends.count > 1 ? ends[1] + 1 : Self.length) - ends[0]) / 2)
                let fields: Fields = [
                    "ETag": #""one""#, "Transfer-Encoding": "chunked",
                    "Content-Range": "bytes \(half.lowerBound)-\(half.upperBound - 1)/\(Self.length)",
                ]
                let chunk = Bytes("\(String(half.count + 1, radix: 16))\r\n")
                return [
                    .message(.init(.partialContent, fields: fields)), .waitForSignal(goOn), .send(chunk),
                    .generated(half.lowerBound..<half.upperBound + 1), .stall,
                ]
            }
            let asking = Task {
                try await stage.session.download("file", to: .folder(folder.path), transfer: Self.options)
            }
            try await stage.eventually("all have asked") { stage.server.partCount == 3 }
            let snapshot = try #require(await stage.session.tasks.all.first)
            switch end {
            case .overrun: goOn.open()
            case .cancelled: await stage.session.tasks.cancel(snapshot.id)
            case .cancelledTask: asking.cancel()
            }
            await #expect(throws: (any Error).self) { _ = try await asking.value }
            Self.expect(try await ends.only(stage), 4)
            #expect(stage.server.requests.count == 4)
        }
    }

    /// One says that the file is another by now, while the first waits and others have brought little or nothing.
    @Test func `the hops of segments that are stopped are told too when the download starts over`() async throws {
        let (file, goOn) = (ServedFile(Self.length, held: 100_000), LoopbackServer.Gate())
        try await Self.play(file) { stage, ends, folder in
            let parts = Mutex(0)
            stage.server.respond { request in
                if request.fields["range"] == nil { return file.reply(to: request) }
                let number = parts.withLock { parts in
                    parts += 1
                    return parts
                }
                if number == 2 { return file.entity.reply(to: request, .stall(after: 1000)) }
                if number == 3 { return [.stall] }
                return LoopbackServer.Reply.response(.rangeNotSatisfiable).after(.waitForSignal(goOn))
            }
            async let download = stage.session.download(
                "file", to: .folder(folder.path), transfer: Self.options)
            try await stage.eventually("all have asked") { stage.server.partCount == 3 }
            goOn.open()
            try await stage.eventually("it starts over") { stage.server.requests.count == 5 }
            file.gate.open()
            #expect(try await download.value.byteCount == Self.length)
            let hops = try await ends.only(stage).metrics.hops
            #expect(hops.count == 5 && Set(hops).count == 5 && hops.allSatisfy { $0.bytesSent > 0 }, "\(hops)")
        }
    }

    @Test func `the hop of the first segment is told once when it breaks and others bring the rest`() async throws {
        let file = ServedFile(Self.length, cuts: [100_000])
        try await Self.play(file) { stage, ends, folder in
            let response = try await stage.session.download("file", to: .folder(folder.path), transfer: Self.options)
            #expect(response.value.byteCount == Self.length)
            let hops = response.metrics.hops
            #expect(Set(hops).count == hops.count && hops.count > 1, "\(hops)")
            #expect(hops.count { $0.bodyBytes == 100_000 } == 1, "\(hops)")
            #expect(try await ends.only(stage).metrics == response.metrics)
        }
    }
}
