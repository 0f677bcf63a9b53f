import Dunlin
import DunlinSigning
import DunlinTesting
import DunlinXML
import Folders
import FoundationEssentials
import Testing

private nonisolated struct NotStored: Error {}

func uploadInParts(
    _ path: String, to key: HTTP.Target, with client: HTTPSession,
    partSize: Int = 16 << 20, atOnce: Int = 4,
    progress: (_ sent: Int, _ size: Int) -> Void = { _, _ in }
) async throws {
    let file = try FileManager.default.attributesOfItem(atPath: path)
    let size = Int(file[.size] as? UInt64 ?? 0)
    let begun = try await client.post(
        key, query: ["uploads": HTTP.QueryFlag()], as: .xml)
    let id = begun.value.root["UploadId"]?.text ?? ""
    do {
        let starts = stride(from: 0, to: max(size, 1), by: partSize)
        let parts = starts.enumerated().map { index, start in
            HTTPSession.BatchRequest(
                key, method: .put,
                query: ["partNumber": index + 1, "uploadId": id],
                body: .file(
                    path, range: start..<min(start + partSize, size)))
        }
        let batch = try client.batch(parts, running: atOnce, as: .bytes)
        for await step in batch.progress {
            progress(step.sentBytes, size)
            if step.failed > 0 { batch.cancel() }
        }
        let results = await batch.results
        for case .failure(let error as NetworkError) in results
        where error.code != .cancelled { throw error }
        let list = try results.enumerated().map { index, result in
            let tag = try result.get().fields["ETag"] ?? ""
            return "<Part><PartNumber>\(index + 1)</PartNumber>"
                + "<ETag>\(tag)</ETag></Part>"
        }
        let name = "CompleteMultipartUpload"
        let end = try await client.post(
            key, query: ["uploadId": id],
            body: .string("<\(name)>\(list.joined())</\(name)>"),
            as: .xml)
        // S3 may begin its answer with 200 and fail then.
        guard end.value.root["ETag"] != nil else { throw NotStored() }
    } catch {
        // A task of its own is not cancelled with the upload.
        _ = await Task {
            try await client.delete(key, query: ["uploadId": id])
        }.result
        throw error
    }
}

/// The snippets of the article about signing.
@Suite(.timeLimit(.minutes(10))) struct `Guide to signing` {
    private nonisolated struct Role: Sendable {
        let id, secret, token: String
    }

    private nonisolated struct Vault: Sendable {
        func credentials() async throws -> Role { Role(id: "AKIDEXAMPLE", secret: "hunter2", token: "t") }
    }

    private static let (id, secret, region) = ("AKIDEXAMPLE", "hunter2", "us-east-1")
    private static let credentials = AWSSigner.Credentials(accessKey: id, secret: secret)

    @Test func `a session signs what it sends`() async throws {
        let (id, secret) = (Self.id, Self.secret)
        let folder = try Folder()
        let path = try folder.write("dunlin".utf8, as: "dunlin.jpg")
        let transport = MockTransport()
        transport.otherwise { _ in .respond() }
        do {
            let signer = AWSSigner(
                region: "eu-central-1", service: .s3,
                credentials: .init(accessKey: id, secret: secret))
            var configuration = HTTPSession.Configuration(
                baseURL: "https://photos.s3.eu-central-1.amazonaws.com")
            try configuration.sign(with: signer)
            let client = try HTTPSession(configuration)
            await client.shutdown()
        }
        let signer = AWSSigner(
            region: "eu-central-1", service: .s3,
            credentials: .init(accessKey: id, secret: secret))
        var configuration = HTTPSession.Configuration(
            baseURL: "https://photos.s3.eu-central-1.amazonaws.com",
            retry: .exponential(
                attempts: 4, when: .transient.union([.status(500)])))
        try configuration.sign(with: signer)

        configuration.transport = transport
        let film = path
        do {
            let client = try HTTPSession(configuration)

            try await client.put("dunlin.jpg", body: .file(path))

            try await client.put(
                "film.mp4", fields: ["X-Amz-Content-Sha256": "UNSIGNED-PAYLOAD"],
                body: .file(film))
        }
        let digest = try ContentDigest(.sha256, of: "dunlin").hex
        #expect(transport.requests.map { $0.fields["X-Amz-Content-Sha256"] } == [digest, "UNSIGNED-PAYLOAD"])
        #expect(transport.requests[0].fields["Authorization"]?.contains("/eu-central-1/s3/aws4_request") == true)
    }

    @Test func `bodies, credentials and redirects are signed in other ways`() async throws {
        let (region, credentials, vault) = (Self.region, Self.credentials, Vault())
        do {
            var signer = AWSSigner(
                region: region, service: .s3, credentials: credentials,
                payload: .chunks(of: 256 * 1024))
            signer.clock = { Date(timeIntervalSince1970: 0) }
            #expect(signer.payload == .chunks(of: 262_144))
        }
        let signer = AWSSigner(region: region, service: "execute-api") {
            let role = try await vault.credentials()
            return .init(
                accessKey: role.id, secret: role.secret,
                sessionToken: role.token)
        }
        let transport = MockTransport()
        transport.on(.get, "/a").respond(307, fields: ["Location": "https://b.amazonaws.com/b"])
        transport.on(.get, "/b").respond(307, fields: ["Location": "https://example.com/c"])
        transport.on(.get, "/c").respond()
        var configuration = HTTPSession.Configuration(baseURL: "https://a.amazonaws.com", transport: transport)
        try configuration.sign(with: signer) { origin in
            origin.host.hasSuffix(".amazonaws.com")
        }
        try await HTTPSession(configuration).get("a")
        #expect(transport.requests.map { $0.fields["X-Amz-Security-Token"] } == ["t", "t", nil])
    }

    @Test func `a URL is signed for somebody else`() async throws {
        let signer = AWSSigner(region: "eu-central-1", service: .s3, credentials: Self.credentials)
        let link = try await signer.presigned(
            "https://photos.s3.eu-central-1.amazonaws.com/dunlin.jpg",
            expiresAfter: .seconds(3600))
        let upload = try await signer.presigned(
            "https://photos.s3.eu-central-1.amazonaws.com/new.jpg",
            method: .put, fields: ["Content-Type": "image/jpeg"],
            expiresAfter: .seconds(60))
        #expect(link.contains("&X-Amz-Expires=3600&X-Amz-SignedHeaders=host&"))
        #expect(upload.contains("&X-Amz-Expires=60&X-Amz-SignedHeaders=content-type%3Bhost&"))
    }

    /// A file of 250,000 bytes, and a server that begins uploads.
    private final class Stage {
        private let folder: Folder
        let film: String
        let server: LoopbackServer
        let client: HTTPSession
        let xml: Fields = ["Content-Type": "application/xml"]

        init() throws {
            folder = try Folder()
            film = try folder.write((0..<250_000).map { UInt8(truncatingIfNeeded: $0 / 1000) }, as: "film")
            server = try LoopbackServer()
            var configuration = HTTPSession.Configuration(
                baseURL: server.baseURL,
                retry: .exponential(attempts: 3, base: .zero, when: .transient.union([.status(500)])))
            let signer = AWSSigner(region: region, service: .s3, credentials: credentials)
            try configuration.sign(with: signer)
            client = try HTTPSession(configuration)
            server.route(
                .post, "/films/7.mp4?uploads",
                .response(fields: xml, body: "<Begun xmlns='u'><UploadId>u1</UploadId></Begun>"))
            server.route(.delete, "/films/7.mp4?uploadId=u1", .response(.noContent))
        }

        func completes(_ body: Bytes) {
            server.route(.post, "/films/7.mp4?uploadId=u1", .response(fields: xml, body: body))
        }

        func requests(_ method: HTTP.Method) -> [LoopbackServer.RecordedRequest] {
            server.requests.filter { $0.method == method }
        }

        func end() async {
            await client.shutdown()
            server.stop()
        }
    }

    @Test func `a file is uploaded in parts, and a part that fails is sent again`() async throws {
        let stage = try Stage()
        let (client, film) = (stage.client, stage.film)
        stage.server.route(
            .put, "/films/7.mp4?partNumber=1&uploadId=u1", .response(500), .response(fields: ["ETag": "\"t1\""]))
        stage.server.route(.put, "/films/7.mp4?partNumber=2&uploadId=u1", .response(fields: ["ETag": "\"t2\""]))
        stage.server.route(.put, "/films/7.mp4?partNumber=3&uploadId=u1", .response(fields: ["ETag": "\"t3\""]))
        stage.completes("<Done><ETag>t</ETag></Done>")
        var shown: [Int] = []
        try await uploadInParts(film, to: "films/7.mp4", with: client, partSize: 100_000, atOnce: 2) { sent, size in
            shown.append(sent)
            #expect(size == 250_000)
        }
        // All of the file, and the first part once more as far as it was sent.
        #expect((shown.last ?? 0) >= 250_000 && shown == shown.sorted())
        let puts = stage.requests(.put)
        #expect(puts.count == 4 && stage.requests(.delete).isEmpty)
        #expect(puts.allSatisfy { $0.fields["Authorization"]?.contains("/us-east-1/s3/aws4_request") == true })
        let content = (0..<250_000).map { UInt8(truncatingIfNeeded: $0 / 1000) }
        for (number, range) in [(1, 0..<100_000), (2, 100_000..<200_000), (3, 200_000..<250_000)] {
            let stored = try #require(puts.last { $0.target.contains("partNumber=\(number)&") })
            let digest = try ContentDigest(.sha256, of: Bytes(Array(content[range]))).hex
            #expect(stored.fields["X-Amz-Content-Sha256"] == digest)
            #expect(stored.bodyCount == range.count)
        }
        let list = (1...3).map { "<Part><PartNumber>\($0)</PartNumber><ETag>\"t\($0)\"</ETag></Part>" }
        #expect(
            stage.requests(.post).last?.body
                == Bytes("<CompleteMultipartUpload>\(list.joined())</CompleteMultipartUpload>"))
        await stage.end()
    }

    @Test func `an upload of which a part fails for good is aborted`() async throws {
        let stage = try Stage()
        stage.server.route(.put, "/films/7.mp4?partNumber=1&uploadId=u1", .response(fields: ["ETag": "\"t1\""]))
        stage.server.route(.put, "/films/7.mp4?partNumber=2&uploadId=u1", .response(403))
        stage.server.route(.put, "/films/7.mp4?partNumber=3&uploadId=u1", .response(fields: ["ETag": "\"t3\""]))
        let error = await #expect(throws: NetworkError.self) {
            try await uploadInParts(stage.film, to: "films/7.mp4", with: stage.client, partSize: 100_000, atOnce: 1)
        }
        #expect(error?.response?.status == 403)
        #expect(stage.requests(.delete).count == 1 && stage.requests(.post).count == 1)
        await stage.end()
    }

    @Test func `an upload that fails at its end, after a status of success, is aborted`() async throws {
        let stage = try Stage()
        stage.server.respond { _ in .response(fields: ["ETag": "\"t\""]) }
        stage.completes("<Error><Code>InternalError</Code></Error>")
        await #expect(throws: NotStored.self) {
            try await uploadInParts(stage.film, to: "films/7.mp4", with: stage.client)
        }
        #expect(stage.requests(.put).map(\.bodyCount) == [250_000] && stage.requests(.delete).count == 1)
        await stage.end()
    }

    @Test func `an upload that is cancelled is aborted`() async throws {
        let stage = try Stage()
        let (client, film) = (stage.client, stage.film)
        let gate = LoopbackServer.Gate()
        stage.server.respond { _ in .response().waiting(for: gate) }
        let upload = Task { try await uploadInParts(film, to: "films/7.mp4", with: client) }
        _ = try await stage.server.waitForRequests(2)
        upload.cancel()
        await #expect(throws: (any Error).self) { try await upload.value }
        #expect(stage.requests(.delete).count == 1)
        await stage.end()
    }

    @Test func `the progress of an upload is shown`() async throws {
        let stage = try Stage()
        let (client, film) = (stage.client, stage.film)
        stage.server.respond { _ in .response(fields: ["ETag": "\"t\""]) }
        stage.completes("<Done><ETag>t</ETag></Done>")
        var bar = 0.0
        try await uploadInParts(film, to: "films/7.mp4", with: client) {
            sent, size in bar = Double(sent) / Double(size)
        }
        #expect(bar == 1)
        await stage.end()
    }
}
