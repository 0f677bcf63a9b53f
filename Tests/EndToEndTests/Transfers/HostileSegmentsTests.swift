import Dunlin
import DunlinTesting
import Folders
import Foundation
import Synchronization
import Testing

/// Servers that answer for parts of a file as no server should.
@Suite(.inClearAndOverTLS, .timeLimit(.minutes(10)))
struct `A segment` {
    private static let length = 4 << 20

    private static func options(_ count: Int, _ resuming: HTTPSession.Resuming = .whileRunning)
        -> HTTPSession.DownloadOptions
    {
        var options = HTTPSession.DownloadOptions(resuming: resuming)
        options.segments = HTTPSession.Segments(count, minimumLength: 512 << 10)
        return options
    }

    private static func range(_ request: LoopbackServer.RecordedRequest, of length: Int) -> Range<Int>? {
        guard let field = request.fields["range"] else { return nil }
        let ends = field.dropFirst("bytes=".count).split(separator: "-").compactMap { Int($0) }
        return ends.first.map { $0..<(ends.count > 1 ? ends[1] + 1 : length) }
    }

    private static func head(_ status: HTTP.Status, _ fields: Fields) -> LoopbackServer.Step {
        var all: Fields = ["ETag": #""one""#, "Accept-Ranges": "bytes"]
        for field in fields { all.append(name: field.name, value: field.value) }
        return .message(.init(status, fields: all))
    }

    @Test func `a segment that is never answered is brought by another exchange`() async throws {
        let folder = try Folder()
        let clock = ManualClock()
        let asked = LoopbackServer.Gate()
        let isAsked = Mutex(false)
        let entity = LoopbackServer.Entity(length: Self.length, tag: #""one""#)
        try await Stage.with(clock: clock, tolerating: true) { configuration in
            configuration.timeouts.firstByte = .seconds(600)
        } _: { (stage: Stage) async throws in
            stage.server.respond { request in
                guard Self.range(request, of: Self.length) != nil else {
                    // The first one breaks off once another has asked.
                    let head = Self.head(.ok, ["Content-Length": "\(Self.length)"])
                    return [head, .generated(0..<100_000), .waitForSignal(asked), .reset]
                }
                let isFirst = isAsked.withLock { isAsked in
                    defer { isAsked = true }
                    return !isAsked
                }
                return isFirst ? [.signal(asked), .stall] : entity.reply(to: request)
            }
            let task = try stage.session.downloadTask("file", to: .folder(folder.path), transfer: Self.options(2))
            let start = clock.now
            task.resume()
            try await clock.advance(by: .milliseconds(50), until: "the download is over") {
                task.resultIfEnded != nil
            }
            #expect(try await task.value.byteCount == Self.length)
            #expect(start.duration(to: clock.now) < .seconds(600), "it did not wait for the answer that never came")
            #expect(try folder.contents("file") == entity.bytes)
        }
    }

    @Test func `a file comes whole though the server answers for one part in its middle only`() async throws {
        let folder = try Folder()
        let file = ServedFile(Self.length, held: 100_000)
        let isAnswered = LoopbackServer.Gate()
        let refused = Mutex(0)
        let middle = Self.length * 2 / 5..<Self.length * 3 / 5
        try await Stage.with(tolerating: true) { (stage: Stage) async throws in
            stage.server.respond { request in
                guard let range = Self.range(request, of: Self.length) else { return file.reply(to: request) }
                if middle.contains(range.lowerBound) { return file.reply(to: request).after(.signal(isAnswered)) }
                refused.withLock { $0 += 1 }
                return LoopbackServer.Reply.response(.forbidden).waiting(for: isAnswered)
            }
            let task = try stage.session.downloadTask("file", to: .folder(folder.path), transfer: Self.options(4))
            task.resume()
            // Whoever brought the middle has asked for the end, too.
            try await stage.eventually("nobody asks for a part any more") {
                refused.withLock { $0 } >= 3 && stage.session.connections.leased == 1
            }
            file.gate.open()
            #expect(try await task.value.byteCount == Self.length)
            #expect(try folder.contents("file") == file.contents)
            #expect(stage.server.ranges.count { $0 == nil } == 1, "the whole was asked for once")
        }
    }

    @Test(arguments: [1, 4]) func `a segment that is short by its framing is asked for again`(
        segments: Int
    ) async throws {
        let folder = try Folder()
        let clock = ManualClock()
        let file = ServedFile(Self.length, held: 100_000)
        let parts = Mutex(0)
        try await Stage.with(clock: clock, tolerating: true) { (stage: Stage) async throws in
            stage.server.respond { request in
                guard let range = Self.range(request, of: Self.length) else {
                    if segments > 1 { return file.reply(to: request) }
                    let head = Self.head(.ok, ["Content-Length": "\(Self.length)"])
                    return [head, .generated(0..<100_000), .reset]
                }
                let number = parts.withLock { parts in
                    parts += 1
                    return parts
                }
                let whole = Self.head(
                    .partialContent,
                    [
                        "Content-Range": "bytes \(range.lowerBound)-\(range.upperBound - 1)/\(Self.length)",
                        "Transfer-Encoding": "chunked",
                    ])
                let count = number <= 3 ? range.count / 2 : range.count
                let bytes = LoopbackServer.GeneratedBody.bytes(range.lowerBound..<range.lowerBound + count)
                return [
                    whole, .send(Bytes("\(String(count, radix: 16))\r\n")), .send(bytes), .send(Bytes("\r\n0\r\n\r\n")),
                ]
            }
            let task = try stage.session.downloadTask(
                "file", to: .folder(folder.path), transfer: Self.options(segments))
            task.resume()
            try await clock.advance(by: .milliseconds(50), until: "the download is over") {
                if parts.withLock({ $0 }) >= 3 { file.gate.open() }
                return task.resultIfEnded != nil
            }
            #expect(try await task.value.byteCount == Self.length)
            #expect(try folder.contents("file") == file.contents)
            #expect(parts.withLock { $0 } >= 4)
        }
    }

    @Test(arguments: [true, false]) func `a segment that brings all its bytes and does not end delays nothing`(
        isChunked: Bool
    ) async throws {
        let folder = try Folder()
        let clock = ManualClock()
        let file = ServedFile(Self.length, held: 100_000)
        let parts = Mutex(0)
        try await Stage.with(clock: clock, tolerating: true) { configuration in
            configuration.timeouts.readIdle = nil
        } _: { (stage: Stage) async throws in
            stage.server.respond { request in
                guard let range = Self.range(request, of: Self.length) else { return file.reply(to: request) }
                parts.withLock { $0 += 1 }
                let said = "bytes \(range.lowerBound)-\(range.upperBound - 1)/\(Self.length)"
                let framing = isChunked ? ("Transfer-Encoding", "chunked") : ("Connection", "close")
                let size = isChunked ? Bytes("\(String(range.count, radix: 16))\r\n") : .empty
                return [
                    Self.head(.partialContent, ["Content-Range": said, framing.0: framing.1]), .send(size),
                    .generated(range), .stall,
                ]
            }
            let task = try stage.session.downloadTask("file", to: .folder(folder.path), transfer: Self.options(4))
            let start = clock.now
            task.resume()
            try await clock.advance(by: .milliseconds(50), until: "the download is over") {
                if parts.withLock({ $0 }) >= 3 { file.gate.open() }
                return task.resultIfEnded != nil
            }
            #expect(try await task.value.byteCount == Self.length)
            #expect(start.duration(to: clock.now) < .seconds(500), "the end that never comes was not waited for")
            #expect(try folder.contents("file") == file.contents)
            #expect(await stage.session.tasks.count == 0)
        }
    }

    @Test(arguments: [1, 4]) func `a segment that brings a thousand bytes at a time is not asked for without end`(
        segments: Int
    ) async throws {
        let folder = try Folder()
        let file = ServedFile(Self.length, held: 100_000)
        try await Stage.with(tolerating: true) { (stage: Stage) async throws in
            stage.server.respond { request in
                guard let range = Self.range(request, of: Self.length) else {
                    guard segments == 1 else { return file.reply(to: request) }
                    return [
                        Self.head(.ok, ["Content-Length": "\(Self.length)"]), .generated(0..<100_000), .reset,
                    ]
                }
                return file.entity.part(range.lowerBound..<min(range.upperBound, range.lowerBound + 1000))
            }
            let task = try stage.session.downloadTask(
                "file", to: .folder(folder.path), transfer: Self.options(segments, .ifValidatorMatches))
            task.resume()
            if segments == 1 {
                let error = try await NetworkError.thrown { _ = try await task.value }
                #expect(error.code == .invalidResponse)
                #expect(error.resumeData?.byteCount ?? 0 > 100_000, "what has come is the file's")
            } else {
                // Nobody asks any more; the first one brings the rest, and the small pieces count.
                try await stage.eventually("they have left") { stage.server.partCount > 100 }
                file.gate.open()
                #expect(try await task.value.byteCount == Self.length)
                #expect(try folder.contents("file") == file.contents)
            }
            #expect(stage.server.partCount <= 105)
        }
    }

    @Test func `a segment from another origin is not put into the file, whatever its tag says`() async throws {
        let folder = try Folder()
        let file = ServedFile(Self.length, held: 100_000)
        let other = try Stage.makeServer()
        defer { other.stop() }
        var strange = file.entity
        strange.offset = 77
        let reply = strange
        other.respond { reply.reply(to: $0) }
        try await Stage.with(tolerating: true) { (stage: Stage) async throws in
            let base = other.baseURL
            stage.server.respond { request in
                guard request.fields["range"] != nil else { return file.reply(to: request) }
                return .response(302, fields: ["Location": "\(base)/file"])
            }
            let task = try stage.session.downloadTask("file", to: .folder(folder.path), transfer: Self.options(4))
            task.resume()
            try await stage.eventually("others have been led on") { other.requests.count >= 1 }
            try await stage.eventually("they have come back") { stage.server.partCount >= 1 }
            file.gate.open()
            #expect(try await task.value.byteCount == Self.length)
            #expect(try folder.contents("file") == file.contents)
        }
    }

    @Test func `a segment from where a redirect leads on the same server is not put into the file`() async throws {
        let folder = try Folder()
        let file = ServedFile(Self.length, held: 100_000)
        var strange = file.entity
        strange.offset = 77
        let reply = strange
        try await Stage.with(tolerating: true) { (stage: Stage) async throws in
            stage.server.respond { request in
                if request.target == "/other" { return reply.reply(to: request) }
                guard request.fields["range"] != nil else { return file.reply(to: request) }
                return .response(302, fields: ["Location": "/other"])
            }
            let task = try stage.session.downloadTask("file", to: .folder(folder.path), transfer: Self.options(4))
            task.resume()
            try await stage.eventually("a segment was led on") {
                stage.server.requests.contains { $0.target == "/other" }
            }
            file.gate.open()
            #expect(try await task.value.byteCount == Self.length)
            #expect(try folder.contents("file") == file.contents)
        }
    }

    @Test(arguments: [1, 16], [1, Int.max])
    func `a segment of the longest possible file is asked for like any other`(segments: Int, minimum: Int) async throws
    {
        let folder = try Folder()
        try await Stage.with(tolerating: true) { (stage: Stage) async throws in
            let gate = LoopbackServer.Gate()
            stage.server.respond { request in
                if request.fields["range"] != nil { return .response(404) }
                let head = Self.head(.ok, ["Content-Length": "\(Int.max)"])
                return [head, .generated(0..<1000), .waitForSignal(gate), .reset]
            }
            var options = Self.options(segments)
            options.preallocates = false
            options.segments?.minimumLength = minimum
            let task = try stage.session.downloadTask("file", to: .folder(folder.path), transfer: options)
            task.resume()
            try await stage.eventually("the beginning is there") { task.downloaded.wireBytes == 1000 }
            if segments > 1, minimum == 1 {
                try await stage.eventually("others have asked") { stage.server.partCount >= 1 }
            }
            #expect(task.downloaded.totalBytes == .max)
            gate.open()
            let error = try await NetworkError.thrown { _ = try await task.value }
            #expect([.unacceptableStatus, .connectionClosed].contains(error.code))
            #expect(try folder.names().isEmpty)
        }
    }

    @Test func `a segment whose length overflows is refused like any other that is wrong`() async throws {
        let folder = try Folder()
        let clock = ManualClock()
        try await Stage.with(clock: clock, tolerating: true) { (stage: Stage) async throws in
            stage.server.respond { request in
                if request.fields["range"] == nil {
                    // Nobody knows how long the file is.
                    let head = Self.head(.ok, ["Transfer-Encoding": "chunked"])
                    return [
                        head, .send(Bytes("\(String(100_000, radix: 16))\r\n")), .generated(0..<100_000), .reset,
                    ]
                }
                return [
                    Self.head(
                        .partialContent,
                        ["Content-Range": "bytes 100000-100009/*", "Content-Length": "\(Int.max)"]),
                    .generated(100_000..<100_010), .stall,
                ]
            }
            let task = try stage.session.downloadTask("file", to: .folder(folder.path))
            task.resume()
            try await clock.advance(by: .milliseconds(50), until: "the download is over") {
                task.resultIfEnded != nil
            }
            let error = try await NetworkError.thrown { _ = try await task.value }
            #expect(error.code == .invalidResponse)
            #expect(try folder.names().isEmpty)
        }
    }
}
