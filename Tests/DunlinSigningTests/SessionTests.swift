import Dunlin
import DunlinSigning
import DunlinTesting
import Folders
import FoundationEssentials
import Synchronization
import Testing

@Suite(.timeLimit(.minutes(10))) struct `Signing what a session sends` {
    private struct Refused: Error {}

    /// Each signature has the time of a second later than the one before.
    private static func signer(_ payload: AWSSigner.Payload = .signed) -> AWSSigner {
        let seconds = Mutex(1_369_353_600.0)
        var signer = AWSSigner(
            region: "us-east-1", service: .s3, credentials: .init(accessKey: "AKIDEXAMPLE", secret: "hunter2"),
            payload: payload)
        signer.clock = {
            seconds.withLock {
                $0 += 1
                return Date(timeIntervalSince1970: $0)
            }
        }
        return signer
    }

    private static func session(
        _ server: LoopbackServer, _ signer: AWSSigner = signer(),
        _ change: (inout HTTPSession.Configuration) -> Void = { _ in }
    ) throws -> HTTPSession {
        var configuration = HTTPSession.Configuration(
            baseURL: server.baseURL, retry: .exponential(attempts: 3, base: .zero))
        change(&configuration)
        try configuration.sign(with: signer)
        return try HTTPSession(configuration)
    }

    /// Signs what the server got at the time that it was told, as a server does to compare.
    private static func signature(_ request: LoopbackServer.RecordedRequest, _ server: LoopbackServer) throws -> String?
    {
        let text = try #require(request.fields["Authorization"])
        let names = try #require(text.split(separator: "SignedHeaders=").last?.split(separator: ",").first)
        var signed = Fields()
        for name in names.split(separator: ";") {
            for value in request.fields.values(of: String(name)) { signed.append(name: String(name), value: value) }
        }
        let time = try Date(
            #require(request.fields["X-Amz-Date"]), strategy: .iso8601.dateSeparator(.omitted).timeSeparator(.omitted))
        let scope = try SigningScope(time, region: "us-east-1", service: "s3")
        let parts = request.target.split(separator: "?", maxSplits: 1)
        let canonical = CanonicalRequest(
            method: request.method, path: CanonicalTarget.path(parts[0], followsS3: true),
            query: CanonicalTarget.query(parts.count > 1 ? parts[1] : ""), fields: signed,
            payload: try #require(request.fields["X-Amz-Content-Sha256"]))
        var keys = SigningKeys()
        let expected = try keys.key("hunter2", scope).code(of: Bytes(scope.stringToSign(canonical))).hex
        return text.hasSuffix("Signature=\(expected)") ? request.fields["X-Amz-Date"] : nil
    }

    @Test func `each attempt has a signature and a time of its own, of what the server gets`() async throws {
        let server = try LoopbackServer()
        server.route(.put, "/a%20b?x=1", .response(503), .response(503), .response())
        let session = try Self.session(server)
        try await session.put("a%20b", query: ["x": 1], fields: ["X-Amz-Acl": "private"], body: .string("dunlin"))
        let times = try server.requests.map { try Self.signature($0, server) }
        #expect(times == ["20130524T000001Z", "20130524T000002Z", "20130524T000003Z"])
        let digest = try ContentDigest(.sha256, of: "dunlin").hex
        #expect(server.requests.allSatisfy { $0.fields["X-Amz-Content-Sha256"] == digest && $0.body == "dunlin" })
        #expect(server.requests[0].fields["Authorization"]?.contains("content-type;host;x-amz-acl;") == true)
        await session.shutdown()
    }

    @Test func `a redirect within the origin is signed anew, and one to another is not unless that is allowed`()
        async throws
    {
        for isAllowed in [false, true] {
            let (server, other) = (try LoopbackServer(), try LoopbackServer())
            server.route(.get, "/a", .response(307, fields: ["Location": "/b"]))
            server.route(.get, "/b", .response(307, fields: ["Location": "\(other.baseURL)/c"]))
            other.route(.get, "/c", .response(307, fields: ["Location": "\(server.baseURL)/d"]))
            server.route(.get, "/d", .response(body: "x"))
            var configuration = HTTPSession.Configuration(baseURL: server.baseURL)
            let port = other.port
            var signer = AWSSigner(
                region: "us-east-1", service: .s3,
                credentials: .init(accessKey: "AKIDEXAMPLE", secret: "hunter2", sessionToken: "swordfish"))
            signer.clock = Self.signer().clock
            try configuration.sign(with: signer) { isAllowed && $0.port == port }
            let session = try HTTPSession(configuration)
            #expect(try await session.get("a", as: .string).value == "x")
            #expect(try server.requests.map { try Self.signature($0, server) != nil } == [true, true, true])
            #expect(Set(server.requests.map { $0.fields["X-Amz-Date"] }).count == 3)
            let there = try #require(other.requests.first).fields
            let names = ["Authorization", "X-Amz-Date", "X-Amz-Security-Token", "X-Amz-Content-Sha256"]
            #expect(names.allSatisfy { there.contains($0) == isAllowed })
            await session.shutdown()
        }
    }

    @Test(arguments: [0, 1, 8_191, 8_192, 100_000])
    func `a part of a file is sent in signed chunks, and again after a failure`(length: Int) async throws {
        let folder = try Folder()
        let path = try folder.write([UInt8](repeating: 7, count: 200_000), as: "file")
        let server = try LoopbackServer()
        server.route(.put, "/file", .response(503), .response())
        let session = try Self.session(server, Self.signer(.chunks(of: 8 * 1024)))
        try await session.put("file", body: .file(path, range: 50..<(50 + length)))
        #expect(server.requests.count == 2)
        for request in server.requests {
            #expect(try Self.signature(request, server) != nil)
            if length == 0 {
                #expect(request.fields["X-Amz-Content-Sha256"] == CanonicalRequest.noContent && request.body.isEmpty)
                continue
            }
            #expect(request.fields["X-Amz-Content-Sha256"] == CanonicalRequest.chunks)
            #expect(request.fields["X-Amz-Decoded-Content-Length"] == String(length))
            #expect(request.fields["Content-Length"] == String(request.bodyCount))
            #expect(request.bodyCount == ChunkSigner.framedLength(length, size: 8 * 1024))
            #expect(request.body.filter { $0 == 7 }.count == length)
        }
        await session.shutdown()
    }

    @Test func `a file is hashed as it is, and a body that is not signed is sent as it is`() async throws {
        let folder = try Folder()
        let path = try folder.write([UInt8](repeating: 7, count: 200_000), as: "file")
        let server = try LoopbackServer()
        server.respond { _ in .response() }
        let (signed, unsigned) = (try Self.session(server), try Self.session(server, Self.signer(.unsigned)))
        try await signed.put("file", body: .file(path))
        try await signed.put("file", fields: ["X-Amz-Content-Sha256": "UNSIGNED-PAYLOAD"], body: .file(path))
        try await unsigned.put("file", body: .file(path))
        try await unsigned.get("file")
        let digest = try ContentDigest(.sha256, of: Bytes([UInt8](repeating: 7, count: 200_000))).hex
        #expect(
            server.requests.map { $0.fields["X-Amz-Content-Sha256"] } == [
                digest, CanonicalRequest.unsigned, CanonicalRequest.unsigned, CanonicalRequest.noContent,
            ])
        #expect(try server.requests.allSatisfy { try Self.signature($0, server) != nil })
        await signed.shutdown()
        await unsigned.shutdown()
    }

    @Test func `chunks need a length, and have no trailers`() async throws {
        let server = try LoopbackServer()
        let session = try Self.session(server, Self.signer(.chunks()))
        let (chunks, end) = AsyncStream<Bytes>.makeStream()
        end.finish()
        for body in [RequestBody.stream(chunks), .string("x").withTrailers(["X-A": "b"])] {
            let error = await #expect(throws: NetworkError.self) { try await session.put("file", body: body) }
            #expect(error?.code == .invalidRequest && error?.reason.contains("`.unsigned`") == true)
        }
        #expect(server.requests.isEmpty)
        await session.shutdown()
    }

    @Test func `credentials are asked for at each exchange, and their failure is the request's`() async throws {
        let server = try LoopbackServer()
        server.respond { _ in .response() }
        let count = Mutex(0)
        let signer = AWSSigner(region: "us-east-1", service: .s3) {
            let number = count.withLock {
                $0 += 1
                return $0
            }
            if number == 3 { throw Refused() }
            return .init(accessKey: "KEY\(number)", secret: "hunter2", sessionToken: "t\(number)")
        }
        let session = try Self.session(server, signer)
        try await session.get("a")
        try await session.get("b")
        let error = await #expect(throws: NetworkError.self) { try await session.get("c") }
        #expect(error?.code == .interceptorFailed && error?.underlying is Refused)
        #expect(server.requests.map { $0.fields["X-Amz-Security-Token"] } == ["t1", "t2"])
        #expect(server.requests.last?.fields["Authorization"]?.contains("Credential=KEY2/") == true)
        await session.shutdown()
    }

    @Test func `downloads, streams and handles are signed too, and go on where they were`() async throws {
        let folder = try Folder()
        let server = try LoopbackServer()
        let entity = LoopbackServer.Entity(length: 300_000, tag: "\"v1\"")
        server.serve(entity, at: "/file", faults: .reset(after: 100_000))
        let session = try Self.session(server)
        try await session.download("file", to: .file("\(folder.path)/file"))
        #expect(server.requests.count == 2 && server.requests[1].fields["Range"] != nil)
        let lines = try await session.stream("file")
        for try await _ in lines.body {}
        let task = try session.task("file", as: .bytes)
        task.resume()
        #expect(try await task.value.count == 300_000)
        #expect(try server.requests.allSatisfy { try Self.signature($0, server) != nil })
        await session.shutdown()
    }

    @Test func `a presigned URL is sent without another signature`() async throws {
        let server = try LoopbackServer()
        server.respond { _ in .response() }
        let session = try Self.session(server)
        let url = try await Self.signer().presigned("\(server.baseURL)/a", expiresAfter: .seconds(60))
        try await session.get(.url(url))
        #expect(server.requests.count == 1 && server.requests[0].fields["Authorization"] == nil)
        await session.shutdown()
    }
}
