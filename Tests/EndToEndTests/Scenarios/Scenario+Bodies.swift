import Dunlin
import DunlinTesting
import Folders

extension Scenario {
    /// Request bodies of every kind, and servers that do not want them.
    static let uploads: [Scenario] = [
        Scenario("upload-announced", chancy: [.firstByte]) { scene in
            scene.server.enqueue(.response(body: "taken"))
            let body = RequestBody.stream(UploadPieces(total: 50_000), length: 50_000)
            await scene.note("post") { try await scene.session.post("a", body: body, as: .string) }
        },
        Scenario("upload-chunked", chancy: [.firstByte]) { scene in
            scene.server.enqueue(.response(body: "taken"))
            let body = RequestBody.stream(UploadPieces(total: 50_000))
            await scene.note("post") { try await scene.session.post("a", body: body, as: .string) }
        },
        Scenario("upload-file", chancy: [.firstByte]) { scene in
            scene.server.enqueue(.response(body: "taken"))
            let path = try scene.folder.write(LoopbackServer.GeneratedBody.bytes(0..<50_000), as: "file")
            await scene.note("post") { try await scene.session.post("a", body: .file(path), as: .string) }
        },
        Scenario("upload-file-missing") { scene in
            let body = RequestBody.file("\(scene.folder.path)/none")
            await scene.note("post") { try await scene.session.post("a", body: body, as: .string) }
        },
        Scenario("upload-too-short", chancy: [.firstByte], hasWire: false) { scene in
            let body = RequestBody.stream(UploadPieces(total: 900), length: 1000)
            await scene.note("post") { try await scene.session.post("a", body: body, as: .string) }
        },
        Scenario("upload-producer-fails", hasWire: false) { scene in
            let body = RequestBody.stream(UploadPieces(total: 50_000, failingAt: 20_000))
            await scene.note("post") { try await scene.session.post("a", body: body, as: .string) }
        },
        Scenario("upload-expectation", chancy: [.firstByte]) { scene in
            scene.server.enqueue(.response(body: "taken"))
            await scene.postExpecting()
        },
        Scenario("upload-refused-by-expectation", chancy: [.firstByte]) { scene in
            scene.server.enqueue(LoopbackServer.Reply.response(417, body: "no").closingAfter.beforeBody)
            await scene.postExpecting()
        },
        Scenario("upload-with-handle", chancy: [.firstByte]) { scene in
            scene.server.enqueue(.response(body: "taken"))
            let body = RequestBody.stream(UploadPieces(total: 50_000), length: 50_000)
            await scene.note("upload") {
                try await scene.session.withUpload(to: "a", body: body, as: .string) { try await $0.response }
            }
        },
    ]

    /// Responses that are read as they come.
    static let streams: [Scenario] = [
        Scenario("stream") { scene in
            scene.server.enqueue(.generated(length: 300_000))
            await scene.note("stream") {
                try await scene.session.withResponse(from: "a") { response in
                    var count = 0
                    for try await piece in response.body { count += piece.count }
                    return "\(response.status.code), \(count) bytes"
                }
            }
        },
        Scenario("stream-small") { scene in
            scene.server.enqueue(.response(body: "hello"))
            await scene.note("stream") { try await scene.read("a") }
        },
        Scenario("stream-not-found") { scene in
            scene.server.enqueue(.response(404, body: "none"))
            await scene.note("stream") { try await scene.read("a") }
        },
        Scenario("stream-left-early") { scene in
            scene.server.enqueue([.send("HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nabc"), .stall])
            await scene.note("stream") {
                try await scene.session.withResponse(from: "a") { response in
                    await scene.noteTasks("in the scope")
                    return response.status.code
                }
            }
            try await scene.server.wait { $0.open == 0 }
        },
        Scenario("stream-scope-throws") { scene in
            struct Enough: Error {}
            scene.server.enqueue([.send("HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nabc"), .stall])
            await scene.note("stream") {
                try await scene.session.withResponse(from: "a") { _ in throw Enough() }
            }
            try await scene.server.wait { $0.open == 0 }
        },
        Scenario("stream-broken") { scene in
            scene.server.enqueue([.send("HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nabc"), .close])
            await scene.note("stream") { try await scene.read("a") }
        },
        Scenario("stream-upload", chancy: [.firstByte]) { scene in
            scene.server.enqueue(.response(body: "taken"))
            let body = RequestBody.stream(UploadPieces(total: 50_000))
            await scene.note("stream") { try await scene.read("a", method: .post, body: body) }
        },
    ]

    /// Responses that become files.
    static let downloads: [Scenario] = [
        Scenario("download") { scene in
            scene.server.enqueue(.response(body: "hello"))
            await scene.note("download") {
                try await scene.session.download("a", to: .file("\(scene.folder.path)/file"))
            }
        },
        Scenario("download-not-found") { scene in
            scene.server.enqueue(.response(404, body: "none"))
            await scene.note("download") {
                try await scene.session.download("a", to: .file("\(scene.folder.path)/file"))
            }
        },
        Scenario("download-no-folder") { scene in
            scene.server.enqueue(.response(body: "hello"))
            await scene.note("download") {
                try await scene.session.download("a", to: .file("\(scene.folder.path)/none/at/all/file"))
            }
        },
        Scenario("download-resumed", hasManualClock: true, chancy: Set(HTTP.Phase.allCases)) { scene in
            scene.server.serve(.init(length: 3000, tag: "\"v1\""), at: "/a", faults: .short(after: 1000), .none)
            await scene.note("download") {
                try await scene.movingOn {
                    try await scene.session.download(
                        "a", to: .file("\(scene.folder.path)/file"), resuming: .whileRunning)
                }
            }
        },
        Scenario("download-redirected") { scene in
            scene.server.enqueue(.response(302, fields: ["Location": "/b"]), .response(body: "hello"))
            await scene.note("download") {
                try await scene.session.download("a", to: .file("\(scene.folder.path)/file"))
            }
        },
        Scenario("download-with-handle") { scene in
            scene.server.enqueue(.response(body: "hello"))
            let task = try scene.session.downloadTask("a", to: .file("\(scene.folder.path)/file"))
            await scene.noteTasks("before it begins")
            await scene.note("download") { try await task.response }
        },
    ]
}

extension Scene {
    /// Sends a body once the server wants it, however long that takes.
    fileprivate func postExpecting() async {
        var options = HTTPSession.Options()
        options.expectsContinue = true
        options.continueTimeout = .seconds(600)
        let body = RequestBody.stream(UploadPieces(total: 50_000), length: 50_000)
        await note("post") { [options] in
            try await session.post("a", body: body, options: options, as: .string)
        }
    }
}
