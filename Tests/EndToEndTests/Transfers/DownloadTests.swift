import Dunlin
import DunlinInflate
import DunlinTesting
import Folders
import Foundation
import LedgerRows
import Synchronization
import Testing

@Suite(.inClearAndOverTLS, .timeLimit(.minutes(10)))
struct `A download` {
    typealias Options = HTTPSession.DownloadOptions

    static func bytes(_ count: Int) -> Bytes { LoopbackServer.GeneratedBody.bytes(0..<count) }

    @Test(.rows("SM-24", "OP-7"), arguments: [0, 1, 1000, 300_000, 5 << 20])
    func `a download puts the body into a file and leaves nothing else`(
        length: Int
    ) async throws {
        let folder = try Folder()
        try await Stage.with { (stage: Stage) async throws in
            stage.server.enqueue(.generated(length: length))
            let path = "\(folder.path)/file"
            let response = try await stage.session.download("long", to: .file(path))
            #expect(response.value.path == path)
            #expect(response.value.byteCount == length)
            #expect(response.status == .ok)
            #expect(response.body.isEmpty)
            #expect(response.file == response.value)
            #expect(response.metrics.hops.last?.bodyBytes == length)
            #expect(try folder.contents("file") == Self.bytes(length))
            #expect(try folder.names() == ["file"])
            try await stage.expectHealthy()
        }
    }

    @Test(arguments: ["chunked", "close", "drip"]) func `a download can come in any framing`(framing: String)
        async throws
    {
        let folder = try Folder()
        try await Stage.with { (stage: Stage) async throws in
            let reply: LoopbackServer.Reply =
                switch framing {
                case "chunked": .chunked(["one", "two", "three"])
                case "close": .untilClose("onetwothree")
                default: LoopbackServer.Reply.response(body: "onetwothree").dripping(1)
                }
            stage.server.enqueue(reply)
            let response = try await stage.session.download("x", to: .folder(folder.path))
            #expect(try folder.contents("x") == "onetwothree")
            #expect(response.value.byteCount == 11)
        }
    }

    @Test func `a download has its content coding taken off, unless the options say otherwise`() async throws {
        let folder = try Folder()
        try await Stage.with { (stage: Stage) async throws in
            let plain = Bytes(Array(repeating: UInt8(ascii: "d"), count: 200_000))
            let coded = try `Content codings`.coded(plain, [.gzip])
            stage.server.route(.get, "/c", .response(fields: ["Content-Encoding": "gzip"], body: coded))
            let response = try await stage.session.download("c", to: .file("\(folder.path)/plain"))
            #expect(response.value.byteCount == plain.count)
            #expect(try folder.contents("plain") == plain)
            let options = HTTPSession.Options(decodesContent: false)
            _ = try await stage.session.download("c", options: options, to: .file("\(folder.path)/coded"))
            #expect(try folder.contents("coded") == coded)
        }
    }

    @Test func `a download gets the name that the server or the URL suggests, made safe`() async throws {
        let folder = try Folder()
        try await Stage.with { (stage: Stage) async throws in
            let named = #"attachment; filename="../../etc/pass wd.txt""#
            stage.server.route(.get, "/a/b%20c.bin", .response(body: "1"))
            stage.server.route(.get, "/named", .response(fields: ["Content-Disposition": named], body: "2"))
            stage.server.route(.get, "/", .response(body: "3"))
            let first = try await stage.session.download("a/b%20c.bin", to: .folder(folder.path))
            #expect(first.value.suggestedName == "b c.bin")
            let second = try await stage.session.download("named", to: .folder(folder.path + "/"))
            #expect(second.value.path == folder.path + "/pass wd.txt")
            _ = try await stage.session.download("", to: .folder(folder.path))
            #expect(try folder.names() == ["b c.bin", "download", "pass wd.txt"])
        }
    }

    @Test(.rows("SM-61")) func `a download without a place goes to a temporary file that is then the caller's`()
        async throws
    {
        try await Stage.with { (stage: Stage) async throws in
            stage.server.enqueue(.response(body: "once"), .response(body: "twice"))
            let first = try await stage.session.download("x", to: .temporary).value
            let second = try await stage.session.download("x", to: .resolved { _, _ in nil }).value
            #expect(first.path != second.path)
            for (file, text) in [(first, "once"), (second, "twice")] {
                #expect(try String(contentsOfFile: file.path, encoding: .utf8) == text)
                try FileManager.default.removeItem(atPath: file.path)
            }
        }
    }

    @Test(.rows("SM-60", "SM-61"))
    func `a download's place is decided by the request, else the session, else its destination`()
        async throws
    {
        let folder = try Folder()
        let asked = Mutex<[String]>([])
        let opinion = Mutex<HTTPSession.Destination?>(nil)
        try await Stage.with {
            $0.hooks.destination = { task, head in
                asked.withLock { $0.append("session \(head.status.code) \(task.kind.rawValue)") }
                return opinion.withLock { $0 }
            }
        } _: { (stage: Stage) async throws in
            stage.server.respond { _ in .response(body: "x") }
            let destination = HTTPSession.Destination.resolved { head, url in
                asked.withLock { $0.append("own \(head.status.code) \(url.hasSuffix("/file"))") }
                return .file("\(folder.path)/own")
            }
            var options = HTTPSession.Options()
            options.hooks.destination = { _, _ in
                asked.withLock { $0.append("request") }
                return nil
            }
            _ = try await stage.session.download("file", options: options, to: destination)
            #expect(asked.withLock { $0 } == ["request", "session 200 download", "own 200 true"])
            opinion.withLock { $0 = .file("\(folder.path)/session") }
            asked.withLock { $0 = [] }
            _ = try await stage.session.download("file", options: options, to: destination)
            #expect(asked.withLock { $0 } == ["request", "session 200 download"])
            #expect(try folder.names() == ["own", "session"])
        }
    }

    @Test func `a download follows redirects, and is named after where they lead`() async throws {
        let folder = try Folder()
        try await Stage.with { (stage: Stage) async throws in
            stage.server.route(.get, "/old", .response(302, fields: ["Location": "/new.txt"], body: "moved"))
            stage.server.route(.get, "/new.txt", .response(body: "here"))
            let response = try await stage.session.download("old", to: .folder(folder.path))
            #expect(response.history.count == 1)
            #expect(try folder.contents("new.txt") == "here")
        }
    }

    @Test(.rows("SM-62")) func `a download does not replace a file unless told to`() async throws {
        let folder = try Folder()
        try folder.write("old", as: "file")
        try await Stage.with { (stage: Stage) async throws in
            stage.server.respond { _ in .response(body: "new") }
            let error = try await NetworkError.thrown {
                _ = try await stage.session.download("x", to: .file("\(folder.path)/file"))
            }
            #expect(error.code == .fileNotCreated)
            #expect(error.fileFailure?.errno == EEXIST)
            #expect(try folder.contents("file") == "old")
            let path = "\(folder.path)/file"
            _ = try await stage.session.download("x", to: .file(path), transfer: Options(overwrites: true))
            #expect(try folder.contents("file") == "new")
            #expect(try folder.names() == ["file"])
            try await stage.expectHealthy()
        }
    }

    @Test(.rows("SM-62")) func `a download makes missing folders only if told to`() async throws {
        let folder = try Folder()
        try await Stage.with { (stage: Stage) async throws in
            stage.server.respond { _ in .response(body: "new") }
            let path = "\(folder.path)/a/b/file"
            let error = try await NetworkError.thrown { _ = try await stage.session.download("x", to: .file(path)) }
            #expect(error.fileFailure?.errno == ENOENT)
            _ = try await stage.session.download("x", to: .file(path), transfer: Options(createsFolders: true))
            #expect(try folder.contents("a/b/file") == "new")
        }
    }

    @Test(.rows("SM-46", "SM-65", "SM-66"))
    func `the body of a refused download goes to its error, up to a limit, and to no file`() async throws {
        let folder = try Folder()
        try await Stage.with { (stage: Stage) async throws in
            stage.server.route(.get, "/none", .response(404, body: "not here"))
            stage.server.route(.get, "/much", .generated(length: 1 << 20, status: 500))
            stage.server.route(.get, "/page", .response(fields: ["Content-Type": "text/html"], body: "log in"))
            let none = try await NetworkError.thrown {
                _ = try await stage.session.download("none", to: .folder(folder.path))
            }
            #expect(none.code == .unacceptableStatus)
            #expect(none.body == "not here")
            #expect(none.response?.status == .notFound)
            let much = try await NetworkError.thrown {
                _ = try await stage.session.download("much", to: .folder(folder.path))
            }
            #expect(much.body == Self.bytes(256 << 10))
            let page = try await NetworkError.thrown {
                _ = try await stage.session.download(
                    "page", to: .folder(folder.path), transfer: Options(contentTypes: ["image/*"]))
            }
            #expect(page.code == .unacceptableContentType)
            #expect(page.body == "log in")
            #expect(try folder.names().isEmpty)
            let anything = HTTPSession.Options(validatesResponse: false)
            _ = try await stage.session.download("none", options: anything, to: .folder(folder.path))
            #expect(try folder.contents("none") == "not here")
        }
    }

    @Test func `a download is checked against a given digest, and removed if it differs`() async throws {
        let folder = try Folder()
        try await Stage.with { (stage: Stage) async throws in
            stage.server.respond { _ in .response(body: "hello") }
            let hex = "2cf24dba5fb0a30e26e83b2ac5b9e29e1b161e5c1fa7425e73043362938b9824"
            let digest = try ContentDigest(.sha256, hex: hex)
            let file = try await stage.session.download(
                "right", to: .folder(folder.path), transfer: Options(digest: digest))
            #expect(file.value.digest == digest)
            let wrong = try ContentDigest(.sha256, hex: String(repeating: "0", count: 64))
            let error = try await NetworkError.thrown {
                _ = try await stage.session.download(
                    "wrong", to: .folder(folder.path), transfer: Options(digest: wrong))
            }
            #expect(error.code == .digestMismatch)
            #expect(try folder.names() == ["right"])
        }
    }

    static let declared: [(String, String, Bool)] = [
        ("Repr-Digest", "sha-256=:LPJNul+wow4m6DsqxbninhsWHlwfp0JecwQzYpOLmCQ=:", true),
        ("Content-Digest", "sha-256=:LPJNul+wow4m6DsqxbninhsWHlwfp0JecwQzYpOLmCQ=:", true),
        ("Repr-Digest", "sha-256=:AAAAul+wow4m6DsqxbninhsWHlwfp0JecwQzYpOLmCQ=:", false),
        ("Content-Digest", "sha-256=:AAAAul+wow4m6DsqxbninhsWHlwfp0JecwQzYpOLmCQ=:", false),
        ("Repr-Digest", "md5=:AAAA:", true), ("Repr-Digest", "nonsense", true),
    ]

    @Test(arguments: declared)
    func `a download is checked against the digest that the server declares`(name: String, value: String, isTaken: Bool)
        async throws
    {
        let folder = try Folder()
        try await Stage.with { (stage: Stage) async throws in
            var fields = Fields()
            fields.append(name: name, value: value)
            stage.server.respond { [fields] _ in .response(fields: fields, body: "hello") }
            if isTaken {
                _ = try await stage.session.download("a", to: .folder(folder.path))
            } else {
                let error = try await NetworkError.thrown {
                    _ = try await stage.session.download("a", to: .folder(folder.path))
                }
                #expect(error.code == .digestMismatch)
                #expect(try folder.names().isEmpty)
                var trusting = Options()
                trusting.checksDigestFields = false
                _ = try await stage.session.download("a", to: .folder(folder.path), transfer: trusting)
            }
            #expect(try folder.contents("a") == "hello")
        }
    }

    @Test func `a download longer than its limit is refused, announced or not`() async throws {
        let folder = try Folder()
        try await Stage.with(tolerating: true) { (stage: Stage) async throws in
            for reply in [
                LoopbackServer.Reply.generated(length: 5000), .chunked([Self.bytes(3000), Self.bytes(2000)]),
            ] {
                stage.server.enqueue(reply)
                let error = try await NetworkError.thrown {
                    _ = try await stage.session.download(
                        "x", to: .folder(folder.path), transfer: Options(bodyLimit: 4000))
                }
                #expect(error.code == .limitExceeded)
                #expect(try folder.names().isEmpty)
            }
            stage.server.enqueue(.generated(length: 4000))
            _ = try await stage.session.download("x", to: .folder(folder.path), transfer: Options(bodyLimit: 4000))
        }
    }

    @Test(.rows("SM-95", "HS-9")) func `a download tells its progress, which ends with all bytes`() async throws {
        let folder = try Folder()
        let steps = Mutex<[HTTPSession.TransferProgress]>([])
        try await Stage.with { (stage: Stage) async throws in
            stage.server.enqueue(.generated(length: 3 << 20))
            _ = try await stage.session.download("x", to: .folder(folder.path)) { step in
                steps.withLock { $0.append(step) }
            }
            let all = steps.withLock { $0 }
            #expect(all.filter(\.isFinal).count == 1)
            #expect(all.last?.wireBytes == 3 << 20)
            #expect(all.last?.fraction == 1)
            #expect(zip(all, all.dropFirst()).allSatisfy { $0.wireBytes <= $1.wireBytes })
        }
    }

    @Test(.rows("SM-46", "SM-64"))
    func `a download is listed as one, and observers are told of its file before its end`() async throws {
        let folder = try Folder()
        try await Stage.with { (stage: Stage) async throws in
            stage.server.enqueue(.response(body: "x"))
            let events = stage.session.events
            let task = try stage.session.downloadTask("name", to: .folder(folder.path))
            #expect(await stage.session.tasks.all(.download).map(\.id) == [task.id])
            let file = try await task.value
            var told: [String] = []
            for await event in events {
                switch event {
                case .resumed: told.append("resumed")
                case .fileMoved(let snapshot, let from, let to):
                    #expect(snapshot.id == task.id)
                    #expect(from.hasPrefix(folder.path + "/.") && from.hasSuffix(".dunlin-part"))
                    #expect(to == file.path)
                    told.append("moved")
                case .completed(let completion):
                    #expect(completion.file == file)
                    #expect(completion.body == nil)
                    told.append("completed")
                default: told.append("other")
                }
                if told.last == "completed" { break }
            }
            #expect(told == ["resumed", "moved", "completed"])
        }
    }

    @Test(.rows("SM-70", "SM-91"))
    func `a response becomes a download if a hook says so, however it was asked for`() async throws {
        let folder = try Folder()
        try await Stage.with {
            $0.hooks.response = { _, head in
                head.fields.contains("content-disposition") ? .download(to: .folder(folder.path)) : nil
            }
        } _: { (stage: Stage) async throws in
            let fields: Fields = ["Content-Disposition": "attachment; filename=a.bin"]
            stage.server.route(.get, "/file", .generated(length: 1 << 20, fields: fields))
            stage.server.route(.get, "/text", .response(body: "text"))
            let plain = try await stage.session.get("text", as: .bytes)
            #expect(plain.value == "text" && plain.file == nil)
            let verb = try await stage.session.get("file", as: .bytes)
            #expect(verb.value.isEmpty)
            #expect(verb.file?.path == "\(folder.path)/a.bin")
            #expect(try folder.contents("a.bin") == Self.bytes(1 << 20))
            try FileManager.default.removeItem(atPath: "\(folder.path)/a.bin")
            let task = try stage.session.task("file", as: .bytes)
            #expect(try await task.response.file?.byteCount == 1 << 20)
        }
    }

    @Test func `a durable download puts the body into its file`() async throws {
        let folder = try Folder()
        try await Stage.with { (stage: Stage) async throws in
            stage.server.enqueue(.response(body: "lasting"))
            var options = Options()
            options.isDurable = true
            _ = try await stage.session.download("x", to: .folder(folder.path), transfer: options)
            #expect(try folder.contents("x") == "lasting")
        }
    }
}
