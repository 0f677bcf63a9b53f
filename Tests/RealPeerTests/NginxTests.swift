import Dunlin
import DunlinInflate
import DunlinTesting
import LeakChecking
import LedgerRows
import Testing

/// What a server that others wrote makes of our requests, and we of its responses.
@Suite(.needsNginx, .leakChecked, .timeLimit(.minutes(10)), .serialized)
struct `Against nginx` {
    private func with(_ play: (Nginx, HTTPSession) async throws -> Void) async throws {
        try await Nginx.with { nginx in
            var configuration = HTTPSession.Configuration(baseURL: nginx.baseURL)
            configuration.useLoopOfTest()
            let session = try HTTPSession(configuration)
            try await play(nginx, session)
            await session.shutdown()
        }
    }

    private func options(_ fields: Fields = Fields(), timeouts: HTTPSession.RequestTimeouts = .init())
        -> HTTPSession.Options
    {
        HTTPSession.Options(fields: fields, timeouts: timeouts, validatesResponse: false)
    }

    // MARK: Connections

    @Test func `a connection is replaced after as many requests as the server allows`() async throws {
        try await with { _, session in
            var connections: [UInt64] = []
            for _ in 0..<7 {
                let response = try await session.get("thrice", as: .string)
                #expect(response.value == "thrice")
                connections.append(try #require(response.metrics.hops.last).connection)
            }
            let first = try #require(connections.first)
            #expect(connections.prefix(3).allSatisfy { $0 == first })
            #expect(Set(connections).count == 3)
            #expect(session.connections.open == 1)
        }
    }

    @Test func `a connection that the server closes for being idle is noticed, and another opened`() async throws {
        try await with { _, session in
            #expect(try await session.get("brief", as: .string).value == "brief")
            try await eventually("its end is noticed") { session.connections.open == 0 }
            let response = try await session.get("brief", as: .string)
            #expect(response.value == "brief")
            #expect(response.metrics.hops.map(\.isConnectionReused) == [false])
        }
    }

    // MARK: Bodies

    @Test(arguments: [0, 1, 4096, 1 << 20, 24 << 20])
    func `a file comes as it is`(size: Int) async throws {
        try await with { nginx, session in
            let file = Noise.bytes(size)
            try nginx.publish(file, as: "file")
            let response = try await session.get("file", as: .bytes)
            #expect(response.fields["Content-Length"] == "\(size)")
            #expect(response.value.array == file)
        }
    }

    @Test func `chunks come as they are`() async throws {
        try await with { nginx, session in
            let text = String(repeating: "in the end, within and in between. ", count: 20_000)
            try nginx.publish(Array(text.utf8), as: "text")
            let response = try await session.get("replaced/text", as: .string)
            #expect(response.fields["Transfer-Encoding"] == "chunked")
            #expect(
                response.value == text.split(separator: "in", omittingEmptySubsequences: false).joined(separator: "out")
            )
            #expect(session.connections.idle == 1)
        }
    }

    @Test func `a gzipped body is decompressed`() async throws {
        try await with { nginx, session in
            let text = Bytes(String(repeating: "compressible ", count: 50_000))
            try nginx.publish(text.array, as: "text")
            let response = try await session.get(
                "zipped/text", options: options(["Accept-Encoding": "gzip"]), as: .bytes)
            // Left as it came, or decoded on the way: either way it is the file.
            let isRaw = response.value.starts(with: [0x1f, 0x8b])
            if isRaw { #expect(response.fields["Content-Encoding"] == "gzip") }
            #expect(try isRaw ? decoded(response.value) == text.array : response.value == text)
        }
    }

    private func decoded(_ body: Bytes) throws -> [UInt8] {
        var decoder = try ContentDecoder([.gzip])
        decoder.feed(body)
        var whole: [UInt8] = []
        while let piece = try decoder.next() { whole += piece }
        try decoder.finish()
        return whole
    }

    @Test func `a slow body arrives whole, and within its limits`() async throws {
        try await with { nginx, session in
            let file = Noise.bytes(160 << 10)
            try nginx.publish(file, as: "file")
            // Two waits of a second, each longer than what the whole response may be silent for.
            let patient = options(timeouts: .init(readIdle: .seconds(60)))
            let response = try await session.get("slow/file", options: patient, as: .bytes)
            #expect(response.value.array == file)
            let hasty = options(timeouts: .init(readIdle: .milliseconds(200)))
            let error = await #expect(throws: NetworkError.self) {
                try await session.get("slow/file", options: hasty, as: .bytes)
            }
            #expect(error?.code == .timedOut)
            #expect(error?.phase == .receive)
        }
    }

    @Test(arguments: [nil, 8 << 20])
    func `an upload arrives whole, its length known or not`(length: Int?) async throws {
        try await with { nginx, session in
            let file = Noise.bytes(8 << 20)
            let pieces = AsyncThrowingStream<Bytes, any Error> { stream in
                for start in stride(from: 0, to: file.count, by: 100_000) {
                    stream.yield(Bytes(file[start..<min(start + 100_000, file.count)]))
                }
                stream.finish()
            }
            let response = try await session.put("dav/up", body: .stream(pieces, length: length), as: .bytes)
            #expect(response.status == .created)
            #expect(Noise.isEqual(try nginx.contents(of: "dav/up"), file))
        }
    }

    // MARK: Statuses

    @Test(arguments: [
        ("bytes=0-9", 206, "bytes 0-9/1000", 0..<10), ("bytes=990-", 206, "bytes 990-999/1000", 990..<1000),
        ("bytes=-5", 206, "bytes 995-999/1000", 995..<1000), ("bytes=1000-", 416, "bytes */1000", nil),
    ])
    func `a part comes with its range`(asked: String, status: Int, range: String, part: Range<Int>?) async throws {
        try await with { nginx, session in
            let file = Noise.bytes(1000)
            try nginx.publish(file, as: "file")
            let response = try await session.get("file", options: options(["Range": asked]), as: .bytes)
            #expect(Int(response.status.code) == status)
            #expect(response.fields["Content-Range"] == range)
            if let part { #expect(response.value.array == Array(file[part])) }
        }
    }

    @Test(.rules("9110-15.4.5-1")) func `HEAD and 304 have no body, and leave the connection fit for use`() async throws
    {
        try await with { nginx, session in
            try nginx.publish(Noise.bytes(1000), as: "file")
            let head = try await session.head("file")
            #expect(head.fields["Content-Length"] == "1000")
            #expect(head.body.isEmpty)
            let tag = try #require(head.fields["ETag"])
            let same = try await session.get("file", options: options(["If-None-Match": tag]), as: .bytes)
            #expect(same.status == .notModified)
            #expect(same.value.isEmpty)
            #expect(try await session.get("file", as: .bytes).metrics.hops.last?.isConnectionReused == true)
        }
    }

    @Test func `redirects are followed, on one connection`() async throws {
        try await with { _, session in
            let response = try await session.get("moved", as: .string)
            #expect(response.value == "hello")
            #expect(response.url.hasSuffix("/hello#there"))
            #expect(response.history.map(\.status) == [301])
            let again = try await session.post("moved", body: .string("x"), as: .string)
            #expect(again.value == "hello")
            #expect(again.metrics.hops.map(\.isConnectionReused) == [true, true])
            let error = await #expect(throws: NetworkError.self) { try await session.get("round", as: .bytes) }
            #expect(error?.code == .redirectLoop)
        }
    }

    @Test func `a redirected upload is sent again, whole`() async throws {
        try await with { nginx, session in
            let file = Noise.bytes(3 << 20)
            let response = try await session.put("kept", body: .bytes(Bytes(file)), as: .bytes)
            #expect(response.status == .created)
            #expect(Noise.isEqual(try nginx.contents(of: "dav/kept"), file))
        }
    }

    @Test func `404 has a body`() async throws {
        try await with { _, session in
            let response = try await session.get("nowhere", options: options(), as: .bytes)
            #expect(response.status == .notFound)
            #expect(String(response.value).contains("404 Not Found"))
            let error = await #expect(throws: NetworkError.self) { try await session.get("nowhere", as: .bytes) }
            #expect(error?.code == .unacceptableStatus)
            #expect(error?.response?.status == .notFound)
        }
    }

    @Test func `an upload that is too large is refused while it is sent`() async throws {
        try await with { _, session in
            let body = RequestBody.bytes(Bytes(Noise.bytes(24 << 20)))
            let response = try await session.put("small/up", body: body, options: options(), as: .bytes)
            #expect(response.status == 413)
            #expect(String(response.value).contains("413 Request Entity Too Large"))
            #expect(try await session.get("hello", as: .string).value == "hello")
        }
    }

    // MARK: Restarts

    @Test func `restarts under load fail requests in known ways, and everything recovers`() async throws {
        try await with { nginx, session in
            try nginx.publish(Noise.bytes(300_000), as: "file")
            let timeouts = HTTPSession.RequestTimeouts(
                connect: .seconds(2), firstByte: .seconds(2), readIdle: .seconds(2), total: .seconds(5))
            let load = Load(session, options(timeouts: timeouts))
            try await load.goThroughRestarts(of: nginx, asking: ["hello", "file"])
        }
    }
}
