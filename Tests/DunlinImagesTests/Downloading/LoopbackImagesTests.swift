import Dunlin
import DunlinImages
import DunlinTesting
import LeakChecking
import LedgerRows
import Synchronization
import Testing

@Suite(.leakChecked, .timeLimit(.minutes(10))) struct `Images over a real connection` {
    /// A file server with one picture, whose number is the target's.
    private static func reply(_ request: LoopbackServer.RecordedRequest, _ files: [String: Bytes])
        -> LoopbackServer.Reply
    {
        guard let file = files[request.target] else { return .response(404) }
        let fields: Fields = ["Content-Type": "image/png", "ETag": "\"\(request.target)\""]
        guard let range = request.fields["Range"], request.fields["If-Range"] == fields["ETag"],
            let start = Int(range.dropFirst("bytes=".count).dropLast())
        else { return .response(fields: fields, body: file) }
        let said: Fields = ["Content-Range": "bytes \(start)-\(file.count - 1)/\(file.count)"]
        return .response(206, fields: fields.overlaid(with: said), body: file[start..<file.count])
    }

    private static func files(_ count: Int) async throws -> [String: Bytes] {
        var files: [String: Bytes] = [:]
        for number in 0..<count {
            var chance = SeededGenerator(seed: UInt64(number))
            var pixels = (0..<64 * 64 * 4).map { _ in UInt8(truncatingIfNeeded: chance.next()) }
            pixels[0] = UInt8(number)
            guard let picture = ImageBuffer(width: 64, height: 64, pixels: pixels) else { continue }
            files["/\(number)"] = try await ImageEncoder().png(picture)
        }
        return files
    }

    private static func session(
        connections: Int = 128, cache: HTTPSession.Cache? = nil
    ) throws -> HTTPSession {
        var configuration = HTTPSession.Configuration()
        configuration.proxy = .none
        configuration.connections.perOrigin = connections
        configuration.cache = cache
        configuration.useLoopOfTest()
        return try HTTPSession(configuration)
    }

    @Test(.rows("ID-2")) func `images share connections, and no more are on their way than may be`() async throws {
        let files = try await Self.files(40)
        let server = try LoopbackServer()
        defer { server.stop() }
        server.respond { Self.reply($0, files) }
        let session = try Self.session()
        let downloader = ImageDownloader(session: session, cache: nil)
        try await withThrowingTaskGroup { group in
            for number in 0..<40 {
                group.addTask {
                    let image = try await downloader.image(.url("\(server.baseURL)/\(number)"))
                    #expect(Pictures.number(image) == UInt8(number))
                }
            }
            try await group.waitForAll()
        }
        #expect(server.requests.count == 40)
        #expect(server.connectionCount <= 4)
        await downloader.shutdown()
        await session.shutdown()
    }

    /// The picture that waits has the only slot.
    @Test(arguments: [0, 1])
    func `a scope has a picture though others wait for one behind the scope's own connection`(number: Int) async throws
    {
        let files = try await Self.files(2)
        let server = try LoopbackServer()
        defer { server.stop() }
        let page = Bytes(Array(repeating: UInt8(ascii: "x"), count: 300_000))
        server.respond { $0.target == "/page" ? .response(body: page) : Self.reply($0, files) }
        let session = try Self.session(connections: 1)
        var configuration = ImageDownloader.Configuration()
        configuration.maximumActive = 1
        let downloader = ImageDownloader(session: session, cache: nil, configuration: configuration)
        let outer = try await session.withResponse(from: .url("\(server.baseURL)/page")) { _ in
            let outer = Task.detached { Pictures.number(try await downloader.image(.url("\(server.baseURL)/0"))) }
            try await eventually("it waits for the connection") { session.connections.waiting == 1 }
            let own = try await downloader.image(.url("\(server.baseURL)/\(number)"))
            #expect(Pictures.number(own) == UInt8(number))
            return outer
        }
        #expect(try await outer.value == 0)
        await downloader.shutdown()
        await session.shutdown()
    }

    @Test func `images whose connections break off go on where they stopped`() async throws {
        let files = try await Self.files(8)
        let server = try LoopbackServer()
        defer { server.stop() }
        let count = Mutex(0)
        server.respond { request in
            let number = count.withLock { count in
                count += 1
                return count
            }
            let reply = Self.reply(request, files)
            return number % 3 == 0 ? reply : reply.cutAfter(4000)
        }
        let session = try Self.session(cache: HTTPSession.Cache(.standard))
        let downloader = ImageDownloader(session: session, cache: nil)
        for number in 0..<8 {
            var image: ImageBuffer?
            for _ in 0..<20 where image == nil {
                do {
                    image = try await downloader.image(.url("\(server.baseURL)/\(number)"))
                } catch let error as NetworkError {
                    #expect(error.code == .connectionClosed)
                }
            }
            #expect(image.map(Pictures.number) == UInt8(number))
        }
        #expect(server.requests.contains { $0.fields["Range"] != nil })
        // What was there already did not come again.
        let all = files.values.reduce(0) { $0 + $1.count }
        #expect(server.bytesSent < all + server.requests.count * 300)
        #expect(server.failures.isEmpty)
        await session.shutdown()
    }

    @Test func `a download that nobody wants any more closes its connection`() async throws {
        let files = try await Self.files(1)
        let server = try LoopbackServer()
        defer { server.stop() }
        server.respond { Self.reply($0, files).stallingAfter(2000) }
        let session = try Self.session()
        let downloader = ImageDownloader(session: session, cache: nil)
        let receipt = try await downloader.download(.init(.url("\(server.baseURL)/0")))
        for await progress in receipt.progress where progress.completed > 0 { break }
        await receipt.cancel()
        try await eventually("the connection is closed") { server.openConnections == 0 }
        await downloader.shutdown()
        await session.shutdown()
    }
}
