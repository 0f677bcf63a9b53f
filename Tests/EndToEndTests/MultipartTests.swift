import Dunlin
import DunlinTesting
import LedgerRows
import Testing

@Suite(.inClearAndOverTLS, .timeLimit(.minutes(10)))
struct `Forms of parts` {
    /// What the server should have got: the form taken down by hand.
    private static func form(_ photo: Bytes, _ stream: Bytes) -> Bytes {
        var bytes = Array(
            "--B\r\nContent-Disposition: form-data; name=\"title\"\r\n\r\nWaders\r\n--B\r\n".utf8)
        bytes += "Content-Disposition: form-data; name=\"photo\"; filename=\"a.jpg\"\r\n".utf8
        bytes += Array("Content-Type: image/jpeg\r\n\r\n".utf8) + photo.array
        bytes += "\r\n--B\r\nContent-Disposition: form-data; name=\"log\"\r\n\r\n".utf8
        bytes += stream.array + Array("\r\n--B--\r\n".utf8)
        return Bytes(bytes)
    }

    private static func body(_ path: String, _ count: Int, length: Int?) throws -> RequestBody {
        try .multipart(boundary: "B") {
            MultipartPart.field("title", "Waders")
            MultipartPart.file("photo", at: path, fileName: "a.jpg")
            MultipartPart.stream("log", length: length, contentType: nil) { UploadPieces(total: count) }
        }
    }

    @Test(
        .rows("HS-22", "MP-17", "MP-20", "MP-21", "CO-13"),
        arguments: [(0, 0), (1, 1), (300_000, 25_000), (3 << 20, 100)], [true, false])
    func `a form arrives whole, of announced length or in chunks, as often as it is sent`(
        counts: (Int, Int), isAnnounced: Bool
    ) async throws {
        let scratch = try `File bodies`.Scratch(counts.0)
        let expected = Self.form(
            LoopbackServer.GeneratedBody.bytes(0..<counts.0), LoopbackServer.GeneratedBody.bytes(0..<counts.1))
        try await Stage.with { (stage: Stage) async throws in
            stage.server.route(.post, "/moved", .response(.temporaryRedirect, fields: ["Location": "/up"]))
            stage.server.respond { .response(body: Bytes("\($0.bodyHash)")) }
            let body = try Self.body(scratch.path, counts.1, length: isAnnounced ? counts.1 : nil)
            for target in ["up", "moved"] as [HTTP.Target] {
                let answer = try await stage.session.post(target, body: body, as: .string).value
                #expect(answer == "\(LoopbackServer.BodyHash(expected).value)")
            }
            let sent = stage.server.requests.filter { $0.target == "/up" }
            #expect(sent.count == 2)
            for request in sent {
                #expect(request.fields["content-type"] == "multipart/form-data; boundary=B")
                #expect(request.fields["content-length"] == (isAnnounced ? "\(expected.count)" : nil))
                #expect(request.bodyCount == expected.count)
            }
        }
    }

    @Test(.rows("MP-14"), arguments: [-1, 1])
    func `a part of the wrong length fails its form by name, and the session goes on`(difference: Int) async throws {
        let scratch = try `File bodies`.Scratch(10)
        try await Stage.with(tolerating: true) { (stage: Stage) async throws in
            stage.server.respond { _ in .response() }
            let body = try Self.body(scratch.path, 50_000, length: 50_000 + difference)
            let error = try await NetworkError.thrown { _ = try await stage.session.post("up", body: body, as: .bytes) }
            #expect(error.code == .bodyLengthMismatch && error.reason.contains("\"log\""))
            try await stage.expectHealthy()
        }
    }

    @Test func `a form sends as much of a growing file as was announced`() async throws {
        let scratch = try `File bodies`.Scratch(500_000)
        let expected = Self.form(
            LoopbackServer.GeneratedBody.bytes(0..<500_000), LoopbackServer.GeneratedBody.bytes(0..<10))
        try await Stage.with { (stage: Stage) async throws in
            stage.server.respond { .response(body: Bytes("\($0.bodyHash)")) }
            let body = try Self.body(scratch.path, 10, length: 10)
            try scratch.resize(to: 600_000)
            let answer = try await stage.session.post("up", body: body, as: .string).value
            #expect(answer == "\(LoopbackServer.BodyHash(expected).value)")
        }
    }

    @Test func `a form fails if one of its files shrinks meanwhile`() async throws {
        let scratch = try `File bodies`.Scratch(500_000)
        try await Stage.with(tolerating: true) { (stage: Stage) async throws in
            stage.server.respond { _ in .response() }
            let body = try Self.body(scratch.path, 10, length: 10)
            try scratch.resize(to: 100)
            let error = try await NetworkError.thrown { _ = try await stage.session.post("up", body: body, as: .bytes) }
            #expect(error.code == .bodyLengthMismatch && error.reason.contains("\"photo\""))
            try await stage.expectHealthy()
        }
    }
}

@Suite(.inClearAndOverTLS, .timeLimit(.minutes(10)))
struct `The scope of an upload` {
    struct Left: Error {}

    private static let count = 3 << 20

    @Test(.rows("HS-9", "HS-22")) func `the scope of an upload gives its progress and its value`() async throws {
        try await Stage.with { (stage: Stage) async throws in
            stage.server.respond { .response(body: Bytes("\($0.bodyCount)")) }
            let body = RequestBody.replayable(length: Self.count) { UploadPieces(total: Self.count) }
            var steps: [HTTPSession.TransferProgress] = []
            let answer = try await stage.session.withUpload(to: "up", body: body, as: .string) { upload in
                for await step in upload.uploadProgress { steps.append(step) }
                return try await upload.value
            }
            #expect(answer == "\(Self.count)")
            #expect(steps.last?.wireBytes == Self.count && steps.last?.fraction == 1)
            #expect(await stage.session.tasks.all.isEmpty)
        }
    }

    @Test func `an upload in a scope needs no observer of its progress`() async throws {
        try await Stage.with { (stage: Stage) async throws in
            stage.server.respond { .response(body: Bytes("\($0.method) \($0.bodyCount)")) }
            let body = RequestBody.string("abc")
            let answer = try await stage.session.withUpload(to: "up", method: .put, body: body, as: .string) {
                try await $0.value
            }
            #expect(answer == "PUT 3")
        }
    }

    @Test func `an upload ends when its scope is left, by return or throw`() async throws {
        try await Stage.with(tolerating: true) { (stage: Stage) async throws in
            stage.server.respond { _ in LoopbackServer.Reply([.stall]) }
            let body = RequestBody.replayable(length: Self.count) { UploadPieces(total: Self.count) }
            let value = try await stage.session.withUpload(to: "up", body: body, as: .bytes) { _ in 7 }
            #expect(value == 7)
            #expect(await stage.session.tasks.all.isEmpty)
            await #expect(throws: Left.self) {
                try await stage.session.withUpload(to: "up", body: body, as: .bytes) { _ in throw Left() }
            }
            #expect(await stage.session.tasks.all.isEmpty)
        }
    }

    @Test func `the scope of an upload ends when its Swift task is cancelled`() async throws {
        try await Stage.with(tolerating: true) { (stage: Stage) async throws in
            stage.server.respond { _ in LoopbackServer.Reply([.stall]) }
            let task = Task {
                try await stage.session.withUpload(to: "up", body: .string("x"), as: .bytes) { try await $0.value }
            }
            try await stage.eventually("the request") { !stage.server.requests.isEmpty }
            task.cancel()
            await #expect(throws: CancellationError.self) { try await task.value }
            #expect(await stage.session.tasks.all.isEmpty)
        }
    }

    @Test func `the scope of an upload does not begin if the request cannot be sent`() async throws {
        try await Stage.with { (stage: Stage) async throws in
            let error = try await NetworkError.thrown {
                try await stage.session.withUpload(to: "\("..")", body: .string("x"), as: .bytes) { _ in
                    _ = Issue.record("it began")
                }
            }
            #expect(error.code == .invalidRequest)
            #expect(await stage.session.tasks.all.isEmpty)
        }
    }
}
