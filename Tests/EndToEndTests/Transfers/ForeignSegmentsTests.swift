import Dunlin
import DunlinTesting
import Folders
import Foundation
import Synchronization
import Testing

/// A transport that is the program's own brings segments as well: there are no connections to wait for, and bodies are
/// sequences that may end anyhow.
@Suite(.timeLimit(.minutes(10))) struct `A segmented download over another transport` {
    private static let length = 1 << 20
    private static let all = LoopbackServer.GeneratedBody.bytes(0..<length)

    private struct Scene {
        let transport = MockTransport()
        let session: HTTPSession
        let folder: Folder

        init(_ jar: CookieJar? = nil) throws {
            folder = try Folder()
            var configuration = HTTPSession.Configuration(baseURL: "http://api.test", transport: transport)
            configuration.cookies = jar
            session = try HTTPSession(configuration)
        }

        var ranges: [String] { transport.requests.compactMap { $0.fields["range"] } }

        func task(
            _ resuming: HTTPSession.Resuming = .whileRunning
        ) throws -> HTTPSession.RequestTask<HTTPSession.DownloadedFile> {
            var options = HTTPSession.DownloadOptions(resuming: resuming)
            options.segments = HTTPSession.Segments(4, minimumLength: 64 << 10)
            return try session.downloadTask("file", to: .folder(folder.path), transfer: options)
        }
    }

    private typealias Outcome = MockTransport.Outcome

    /// A body in pieces of 16 KiB; `failing` comes after so many of them. One that is endless brings them, and then
    /// nothing until nobody waits any more.
    private static func content(
        _ range: Range<Int>, failing: (pieces: Int, error: any Error)? = nil, endless: Bool = false
    ) -> Outcome {
        let isPart = range != 0..<length
        var fields: Fields = ["ETag": #""one""#, "Accept-Ranges": "bytes", "Content-Length": "\(range.count)"]
        if isPart {
            fields.append(name: "Content-Range", value: "bytes \(range.lowerBound)-\(range.upperBound - 1)/\(length)")
        }
        return .stream(status: isPart ? .partialContent : .ok, fields: fields, length: range.count) { index in
            if let failing, failing.pieces == index { throw failing.error }
            let start = range.lowerBound + index << 14
            if endless, start >= range.upperBound { try await ManualClock().sleep(for: .seconds(1)) }
            return start < range.upperBound ? all[start..<min(start + 1 << 14, range.upperBound)] : nil
        }
    }

    /// All of it for who asks for all, of which the second piece comes when so many parts were asked for.
    private static func held(until parts: Int, _ transport: MockTransport) -> Outcome {
        let fields: Fields = ["ETag": #""one""#, "Accept-Ranges": "bytes", "Content-Length": "\(length)"]
        return .stream(fields: fields, length: length) { index in
            if index == 1 { try await transport.waitForRequests(1 + parts) }
            let start = index << 14
            return start < length ? all[start..<start + 1 << 14] : nil
        }
    }

    private static func range(_ request: MockTransport.RecordedRequest) throws -> Range<Int>? {
        guard let field = request.fields["range"] else { return nil }
        let ends = field.dropFirst("bytes=".count).split(separator: "-").compactMap { Int($0) }
        try #require(!ends.isEmpty && request.fields["if-range"] == #""one""#)
        return ends[0]..<(ends.count > 1 ? ends[1] + 1 : length)
    }

    @Test func `a segmented download over another transport comes by several exchanges at once`() async throws {
        let scene = try Scene()
        scene.transport.otherwise { [transport = scene.transport] request in
            guard let range = try Self.range(request) else { return Self.held(until: 3, transport) }
            return Self.content(range)
        }
        let task = try scene.task()
        let file = try await task.value
        #expect(file.byteCount == Self.length)
        #expect(scene.ranges.count >= 3 && scene.transport.requests.count == scene.ranges.count + 1)
        #expect(task.downloaded.wireBytes == Self.length && task.downloaded.fraction == 1)
        #expect(try scene.folder.contents("file") == Self.all)
        #expect(try scene.folder.names() == ["file"])
        await scene.session.shutdown()
    }

    /// The first answer sets a cookie, and who sends it gets the other form.
    @Test(arguments: ["Cookie", "*"])
    func `segments of another form are not put together with the first`(vary: String) async throws {
        let scene = try Scene(CookieJar())
        let others = LoopbackServer.GeneratedBody.bytes(1..<Self.length + 1)
        scene.transport.otherwise { [transport = scene.transport] request in
            let range = try Self.range(request) ?? 0..<Self.length
            let isFirst = request.fields["cookie"] == nil
            var fields: Fields = ["ETag": #""one""#, "Accept-Ranges": "bytes", "Vary": vary, "Set-Cookie": "form=2"]
            if !isFirst { fields["Content-Range"] = "bytes \(range.lowerBound)-\(range.upperBound - 1)/\(Self.length)" }
            fields["Content-Length"] = "\(range.count)"
            return .stream(status: isFirst ? .ok : .partialContent, fields: fields, length: range.count) { index in
                if isFirst, index == 1 { try await transport.waitForRequests(2) }
                let start = range.lowerBound + index << 14
                let end = min(start + 1 << 14, range.upperBound)
                return start < end ? (isFirst ? Self.all : others)[start..<end] : nil
            }
        }
        _ = try await scene.task().value
        #expect(try scene.folder.contents("file") == Self.all)
        #expect(!scene.ranges.isEmpty)
        await scene.session.shutdown()
    }

    @Test(arguments: [0, 2]) func `a segment that breaks off is asked for again`(pieces: Int) async throws {
        let scene = try Scene()
        let isBroken = Mutex(false)
        scene.transport.otherwise { [transport = scene.transport] request in
            guard let range = try Self.range(request) else { return Self.held(until: 4, transport) }
            let isFirst = isBroken.withLock { isBroken in
                defer { isBroken = true }
                return !isBroken
            }
            let error = NetworkError(.connectionClosed, "broken off", phase: .receive, requestMayHaveBeenSent: true)
            return Self.content(range, failing: isFirst ? (pieces, error) : nil)
        }
        let response = try await scene.task().response
        #expect(response.value.byteCount == Self.length)
        #expect(scene.ranges.count >= 4)
        #expect(try scene.folder.contents("file") == Self.all)
        await scene.session.shutdown()
    }

    /// All bytes are here, and the end of a body that brought its share would say nothing new.
    @Test func `a body that brought all its bytes and does not end delays no segmented download`() async throws {
        let scene = try Scene()
        scene.transport.otherwise { [transport = scene.transport] request in
            guard let range = try Self.range(request) else { return Self.held(until: 3, transport) }
            return Self.content(range, endless: true)
        }
        let file = try await scene.task().value
        #expect(file.byteCount == Self.length && scene.ranges.count >= 3)
        #expect(try scene.folder.contents("file") == Self.all)
        await scene.session.shutdown()
    }

    @Test func `a segmented download cancelled in the middle goes on with what has come`() async throws {
        let scene = try Scene()
        let isOpen = Mutex(false)
        scene.transport.otherwise { [transport = scene.transport] request in
            let range = try Self.range(request)
            if isOpen.withLock({ $0 }) { return Self.content(range ?? 0..<Self.length) }
            guard range != nil else { return Self.held(until: 100, transport) }
            return .never
        }
        let task = try scene.task(.ifValidatorMatches)
        task.resume()
        _ = try await scene.transport.waitForRequests(4)
        try await eventually("all that will come") { task.downloaded.wireBytes >= 1 << 14 }
        let data = try #require(await task.cancelProducingResumeData())
        #expect(data.byteCount == 1 << 14)
        isOpen.withLock { $0 = true }
        let again = try await scene.task(.ifValidatorMatches).value
        #expect(again.resumedAt == 1 << 14 && again.byteCount == Self.length)
        #expect(try scene.folder.contents("file") == Self.all)
        #expect(try scene.folder.names() == ["file"])
        await scene.session.shutdown()
    }
}
