import Dunlin
import DunlinCache
import DunlinSemantics
import DunlinTesting
import DunlinTransport
import DunlinTypes
import Folders
import Mocking
import Synchronization
import Testing

@testable import DunlinSession

/// A session with a cache over sockets, whose bodies are read three bytes at a time.
struct CachedSockets {
    let server: LoopbackServer
    let store = MapStore(isAtHand: false)
    let session: HTTPSession

    init(_ change: (inout HTTPSession.Configuration) -> Void = { _ in }) throws {
        server = try LoopbackServer()
        var configuration = HTTPSession.Configuration(baseURL: server.baseURL)
        configuration.cache = HTTPSession.Cache(store)
        change(&configuration)
        session = try HTTPSession(configuration)
    }
}

private let fresh: Fields = ["Cache-Control": "max-age=60", "ETag": "\"1\""]

extension Fields {
    fileprivate func with(_ name: String, _ value: String) -> Fields {
        var fields = self
        fields.append(name: name, value: value)
        return fields
    }
}

@Suite(.timeLimit(.minutes(10))) struct `Bodies through a cache` {
    // MARK: - What is replaced

    /// A transport that announces a byte more of a streamed body than there is, and takes that for the whole.
    private struct Overstating: Transport {
        let inner: any Transport

        func exchange(_ request: TransportRequest) async throws -> TransportResponse {
            let response = try await inner.exchange(request)
            guard case .stream(let stream) = response.body, let length = stream.expectedLength else { return response }
            var head = response.head
            head.fields["Content-Length"] = "\(length + 1)"
            return TransportResponse(head: head, body: .stream(stream))
        }
    }

    /// Why the body of what is newer is not stored.
    enum Refusal: CaseIterable, Sendable {
        case hook, length, room, reader
    }

    @Test(arguments: Refusal.allCases)
    func `a newer response replaces the stored one, even if its body is not stored`(refusal: Refusal) async throws {
        let stage = try CachedStage {
            $0.hooks.storing = { task, _ in task.tags.contains("skip") ? .skip : nil }
            if refusal == .length { $0.transport = $0.transport.map { Overstating(inner: $0) } }
        }
        let newer = ["Cache-Control": "max-age=60", "ETag": "\"2\""] as Fields
        stage.transport.on(.get, "/a").respond(fields: fresh, body: "old")
            .thenStream(
                ["ne", "w"], fields: refusal == .reader ? newer : newer.with("Content-Length", "3")
            )
            .thenRespond(fields: newer, body: "newest")
        _ = try await stage.get()
        stage.time.pass(100)
        if refusal == .room { stage.store.longest.withLock { $0 = 1 } }
        let options = HTTPSession.Options(tags: refusal == .hook ? ["skip"] : [])
        try await stage.session.withResponse(from: "/a", options: options) { response in
            for try await _ in response.body where refusal == .reader { break }
        }
        #expect(stage.store.all.isEmpty)
        stage.store.longest.withLock { $0 = .max }
        #expect(try await stage.get("/a", .preferringStored).value == "newest")
    }

    // MARK: - What interceptors make

    @Test(arguments: [true, false])
    func `a body that an interceptor made is not stored, one whose head it changed is`(isMade: Bool) async throws {
        let stage = try CachedStage {
            $0.interceptors = [
                .exchange { request, next in
                    let response = try await next(request)
                    var head = response.head
                    head.fields.append(name: "X-Seen", value: "yes")
                    return TransportResponse(head: head, body: isMade ? .bytes("made") : response.body)
                }
            ]
        }
        stage.transport.on(.get, "/a").respond(fields: fresh, body: "sent").always()
        for _ in 1...2 {
            let response = try await stage.get()
            #expect(response.value == (isMade ? "made" : "sent") && response.fields["x-seen"] == "yes")
        }
        #expect(stage.sent.count == (isMade ? 2 : 1) && stage.store.all.isEmpty == isMade)
    }

    @Test func `a stream that an interceptor made is known for one behind a cache`() async throws {
        let stage = try CachedSockets {
            $0.interceptors = [
                .exchange { request, next in
                    let response = try await next(request)
                    return TransportResponse(
                        head: response.head, body: .stream(WholeBodyStream("made", response)))
                }
            ]
        }
        defer { stage.server.stop() }
        // The digest is of what was sent.
        let digest = "sha-256=:AAAAul+wow4m6DsqxbninhsWHlwfp0JecwQzYpOLmCQ=:"
        stage.server.route(
            .get, "/a", .response(fields: fresh.with("Content-Digest", digest), body: "sent"))
        let folder = try Folder()
        _ = try await stage.session.download("/a", to: .file("\(folder.path)/a"))
        #expect(stage.store.all.isEmpty)
    }

    // MARK: - Rests

    /// What comes as the rest of "abcde", of which eight bytes are promised.
    @Test(arguments: [
        (Int?.some(2), ["fg"]), (4, ["fgh", "i"]), (nil, ["fg"]), (nil, ["fgh", "i"]), (nil, []),
    ])
    func `a rest that is not as long as it was to be is no rest, and the whole is asked for`(
        length: Int?, pieces: [String]
    ) async throws {
        let stage = try CachedStage(inMemory: false)
        stage.transport.on(.get, "/a")
            .reply(
                .stream(
                    ["abcde"], fields: fresh.with("Content-Length", "8"), length: 8,
                    failing: NetworkError(.connectionClosed, "gone"))
            )
            .reply(
                .stream(
                    pieces.map { Bytes($0) }, status: 206, fields: fresh.with("Content-Range", "bytes 5-7/8"),
                    length: length)
            )
            .thenRespond(fields: fresh, body: "ABCDEFGH")
        await #expect(throws: NetworkError.self) { _ = try await stage.get() }
        #expect(stage.store.all.map(\.entry.body) == [.part(0..<5, complete: 8)])
        #expect(try await stage.get().value == "ABCDEFGH")
        #expect(stage.sent.map { $0.fields["range"] } == [nil, "bytes=5-", nil])
        #expect(stage.store.all.map(\.entry.body) == [.whole(8)])
    }

    @Test func `the reader of a rest that is too short gets an error, and it is not stored`() async throws {
        let stage = try CachedStage(inMemory: false)
        stage.transport.on(.get, "/a")
            .reply(
                .stream(
                    ["abcde"], fields: fresh.with("Content-Length", "8"), failing: NetworkError(.connectionClosed, "-"))
            )
            .reply(.stream(["fg"], status: 206, fields: fresh.with("Content-Range", "bytes 5-7/8")))
        await #expect(throws: NetworkError.self) { _ = try await stage.get() }
        let read = Mutex("")
        let error = await #expect(throws: NetworkError.self) {
            try await stage.session.withResponse(from: "/a") { response in
                for try await piece in response.body { read.withLock { $0 += String(piece) } }
            }
        }
        #expect(error?.code == .invalidResponse && error?.phase == .receive)
        #expect(read.withLock(\.self) == "abcdefg" && stage.store.all.isEmpty)
    }

    // MARK: - What cannot be read

    @Test(arguments: [0, 3]) func `a damaged body is requested again, unless part of it was delivered`(
        offset: Int
    ) async throws {
        for isStreamed in [false, true] {
            let stage = try CachedStage(inMemory: false)
            stage.transport.on(.get, "/a").respond(fields: fresh, body: "abcdef")
                .thenRespond(fields: fresh, body: "ABCDEF")
            _ = try await stage.get()
            stage.store.reading.withLock { reading in
                reading = { at throws(CacheDamage) in if at == offset { throw CacheDamage() } }
            }
            let read = Mutex("")
            guard isStreamed else {
                #expect(try await stage.get().value == "ABCDEF" && stage.sent.count == 2)
                continue
            }
            let error = try await networkError {
                try await stage.session.withResponse(from: "/a") { response in
                    for try await piece in response.body { read.withLock { $0 += String(piece) } }
                }
            }
            #expect(error?.code == (offset > 0 ? .cacheUnreadable : nil))
            #expect(read.withLock(\.self) == (offset > 0 ? "abc" : "ABCDEF"))
        }
    }

    @Test func `a damaged beginning is not joined, and the whole is requested`() async throws {
        let stage = try CachedStage(inMemory: false)
        stage.transport.on(.get, "/a")
            .reply(
                .stream(
                    ["abcde"], fields: fresh.with("Content-Length", "8"), failing: NetworkError(.connectionClosed, "-"))
            )
            .respond(206, fields: fresh.with("Content-Range", "bytes 5-7/8"), body: "fgh")
            .thenRespond(fields: fresh, body: "ABCDEFGH")
        await #expect(throws: NetworkError.self) { _ = try await stage.get() }
        stage.store.reading.withLock { $0 = { _ throws(CacheDamage) in throw CacheDamage() } }
        #expect(try await stage.get().value == "ABCDEFGH")
        #expect(stage.sent.map { $0.fields["range"] } == [nil, "bytes=5-", nil])
    }

    // MARK: - Control

    @Test func `a stored body counts as one from the network does`() async throws {
        let counted = Mutex(0)
        let stage = try CachedSockets {
            $0.hooks.downloadProgress = { _, progress in
                if progress.isFinal { counted.withLock { $0 = progress.wireBytes } }
            }
        }
        defer { stage.server.stop() }
        stage.server.route(.get, "/a", .response(fields: fresh, body: "abcdefghij"))
        for _ in 1...2 {
            let response = try await stage.session.get("/a", as: .string)
            let hop = try #require(response.metrics.hops.last)
            #expect(hop.bodyBytes == 10 && hop.decodedBytes == 10)
            #expect(counted.withLock(\.self) == 10)
            counted.withLock { $0 = 0 }
        }
        #expect(stage.server.requests.count == 1)
    }

    @Test func `a stored body ends when its request is cancelled, and stands still while that is suspended`()
        async throws
    {
        let stage = try CachedSockets()
        defer { stage.server.stop() }
        stage.server.route(.get, "/a", .response(fields: fresh, body: "abcdefghij"))
        _ = try await stage.session.get("/a", as: .string)
        for isCancelled in [true, false] {
            let task = try stage.session.task("/a", as: .string)
            let offsets = Mutex<[Int]>([])
            stage.store.reading.withLock { reading in
                reading = { offset throws(CacheDamage) in
                    offsets.withLock { $0.append(offset) }
                    if offset == 3 { if isCancelled { task.cancel() } else { task.suspend() } }
                }
            }
            task.resume()
            if isCancelled {
                let error = await #expect(throws: NetworkError.self) { _ = try await task.value }
                #expect(error?.code == .cancelled)
            } else {
                try await eventually("it is suspended") { offsets.withLock(\.count) == 2 }
                // Others have their turn on the same loop meanwhile.
                for _ in 1...20 { _ = try await stage.session.get("/a", options: .init(cacheMode: .off), as: .string) }
                #expect(offsets.withLock(\.self) == [0, 3])
                task.resume()
                #expect(try await task.value == "abcdefghij")
            }
            #expect(offsets.withLock(\.self) == (isCancelled ? [0, 3] : [0, 3, 6, 9]))
        }
    }

    // MARK: - What nobody reads

    @Test func `the page of a redirect is read to its end and stored`() async throws {
        let stage = try CachedSockets()
        defer { stage.server.stop() }
        let fields: Fields = ["Cache-Control": "max-age=60", "Location": "/b"]
        // More than comes with the head, so that it is a stream.
        let page = Bytes([UInt8](repeating: 0x61, count: 40_000))
        stage.server.route(.get, "/a", .response(301, fields: fields, body: page))
        stage.server.route(.get, "/b", .response(body: "b"))
        for _ in 1...2 { #expect(try await stage.session.get("/a", as: .string).value == "b") }
        #expect(stage.server.requests.map(\.target) == ["/a", "/b", "/b"])
        #expect(stage.store.all.contains { $0.entry.status == 301 && $0.body.count == 40_000 })
        #expect(stage.server.connectionCount == 1)
    }
}
