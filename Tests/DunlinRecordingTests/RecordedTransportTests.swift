import Dunlin
import DunlinTesting
import Folders
import Foundation
import Testing

@testable import DunlinRecording

@Suite(.timeLimit(.minutes(10))) struct `A transport of what was recorded` {
    private static func entry(_ method: String, _ url: String, _ status: Int, _ body: String? = nil) -> HAR.Entry {
        var entry = HAR.Entry(at: Date(timeIntervalSince1970: 0), HAR.Request(method, url), HAR.Response(status))
        entry.response.content.text = body
        return entry
    }

    private static func transport(
        _ entries: [HAR.Entry], _ matching: RecordedTransport.Matching = .init(), clock: (any Clock<Duration>)? = nil
    ) throws -> RecordedTransport {
        let folder = try Folder(with: "a")
        let path = try folder.write(try HAR(entries).text.array, as: "a.har")
        return try RecordedTransport(path, matching: matching, clock: clock)
    }

    private static func session(_ transport: RecordedTransport) throws -> HTTPSession {
        try HTTPSession(.init(baseURL: "https://a.test/v1/", transport: transport))
    }

    @Test func `what is recorded live is replayed with equal results`() async throws {
        let (folder, server) = (try Folder(with: "a"), try LoopbackServer())
        let path = "\(folder.path)/a.har"
        server.respond { request in
            switch request.target {
            case "/moved": .response(302, fields: ["Location": "/a?n=1"])
            case "/missing": .response(404, body: "none")
            case "/bytes":
                .response(
                    fields: ["Content-Type": "application/octet-stream"],
                    body: Bytes((0..<1000).map { UInt8($0 % 256) }))
            default:
                .response(
                    fields: ["Content-Type": "application/json", "X-Seen": "1", "X-Seen": "2"],
                    body: Bytes("{\"target\": \"\(request.target)\", \"body\": \(request.body.count)}"))
            }
        }
        func play(_ transport: RecordedTransport) async throws -> [String] {
            let client = try HTTPSession(.init(baseURL: server.baseURL, transport: transport))
            var results: [String] = []
            for target in ["moved", "missing", "bytes", "a?n=2", "a?n=2"] {
                var options = HTTPSession.Options(fields: ["Authorization": "Bearer one"])
                options.validatesResponse = false
                let response = try await client.get(HTTP.Target(target), options: options, as: .bytes)
                let seen = response.head.fields.values(of: "X-Seen")
                results.append("\(response.head.status) \(seen) \(response.value.hex)")
            }
            let posted = try await client.post("p", json: ["b": 1, "a": 2], as: .string)
            results.append("\(posted.head.fields["Content-Type"] ?? "") \(posted.value)")
            await client.shutdown()
            try await transport.finish()
            return results
        }
        let live = try await play(try RecordedTransport(path, .recordAnew))
        server.stop()
        let again = try await play(try RecordedTransport(path))
        #expect(live == again && live.count == 6)
        #expect(!FileManager.default.fileExists(atPath: path + ".new"))
    }

    @Test func `what is missing is recorded, and the rest is replayed`() async throws {
        let (folder, server) = (try Folder(with: "a"), try LoopbackServer())
        defer { server.stop() }
        let path = "\(folder.path)/a.har"
        server.respond { .response(body: Bytes($0.target.utf8)) }
        for targets in [["a"], ["a", "b"], ["b", "a"]] {
            let transport = try RecordedTransport(path, .recordMissing)
            let client = try HTTPSession(.init(baseURL: server.baseURL, transport: transport))
            for target in targets {
                #expect(try await client.get(HTTP.Target(target), as: .string).value == "/" + target)
            }
            try await transport.finish()
        }
        #expect(server.requests.map(\.target) == ["/a", "/b"])
    }

    @Test func `a request that was not recorded fails with the nearest one and the difference`() async throws {
        var entry = Self.entry("POST", "https://a.test/v1/users?page=1", 200, "{}")
        entry.request.postData = HAR.PostData("application/json")
        entry.request.postData?.text = #"{"name": "Ada", "age": 3}"#
        let transport = try Self.transport([Self.entry("GET", "https://a.test/v1/other", 200, ""), entry])
        let client = try Self.session(transport)
        let error = await #expect(throws: NetworkError.self) {
            try await client.post("users?page=2", json: ["name": "Bob"], as: .string)
        }
        #expect(error?.code == .notRecorded)
        for part in ["POST https://a.test/v1/users?page=2", "users?page=1", "“page=1” was recorded", "Ada", "Bob"] {
            #expect(error?.reason.contains(part) == true, "\(part)")
        }
        let failure = await #expect(throws: RecordedTransport.Failure.self) { try await transport.finish() }
        #expect(failure?.misses.count == 1 && failure?.unused.count == 2)
    }

    @Test func `JSON is compared as values, forms as pairs, and what is asked of fields`() async throws {
        var json = Self.entry("POST", "https://a.test/v1/j", 200, "j")
        json.request.postData = HAR.PostData("application/json; charset=utf-8")
        json.request.postData?.text = "{\"b\": [1, 2],\n \"a\": {\"d\": null, \"c\": true}}"
        var form = Self.entry("POST", "https://a.test/v1/f", 200, "f")
        form.request.postData = HAR.PostData("application/x-www-form-urlencoded")
        form.request.postData?.text = "b=2&a=1"
        var fields = Self.entry("GET", "https://a.test:443/v1/h#top", 200, "h")
        fields.request.headers = [HAR.NameValue("accept", "text/x"), HAR.NameValue(":authority", "a.test")]
        let matching = RecordedTransport.Matching(fields: ["Accept", "Authorization"])
        let strict = try Self.session(try Self.transport([fields], matching))
        await #expect(throws: NetworkError.self) { try await strict.get("h", as: .string) }
        let accepted: Fields = ["Accept": "text/x", "Authorization": "x"]
        #expect(try await strict.get("h", fields: accepted, as: .string).value == "h")
        let client = try Self.session(try Self.transport([json, form]))
        let body = RequestBody.string(
            #"{"a":{"c":true,"d":null},"b":[1,2]}"#, contentType: "application/json")
        #expect(try await client.post("j", body: body, as: .string).value == "j")
        #expect(try await client.post("f", body: .form(["a": 1, "b": 2]), as: .string).value == "f")
    }

    @Test func `a test may use any token, wherever it stands`() async throws {
        var entry = Self.entry("POST", "https://a.test/v1/t?access_token=***&page=1", 200, "t")
        entry.request.postData = HAR.PostData("application/json")
        entry.request.postData?.text = #"{"client_secret":"***","n":1}"#
        entry.request.headers = [HAR.NameValue("Authorization", "<redacted>")]
        let client = try Self.session(try Self.transport([entry, entry], .init(fields: ["Authorization"])))
        for token in ["one", "two"] {
            let body = RequestBody.string("{\"n\":1,\"client_secret\":\"\(token)\"}", contentType: "application/json")
            let fields: Fields = ["Authorization": "Bearer \(token)"]
            let target = HTTP.Target("t?access_token=\(token)&page=1")
            #expect(try await client.post(target, fields: fields, body: body, as: .string).value == "t")
        }
    }

    @Test func `names that are secret for the session alone are left out of what its test records`() async throws {
        let (folder, server) = (try Folder(with: "a"), try LoopbackServer())
        defer { server.stop() }
        let path = "\(folder.path)/a.har"
        server.respond { _ in
            .response(fields: ["Content-Type": "application/json"], body: #"{"ticket":"pl4nted","n":1}"#)
        }
        for (mode, ticket) in [(RecordedTransport.Mode.recordAnew, "pl4nted"), (.replay, "another")] {
            let transport = try RecordedTransport(path, mode)
            let client = try HTTPSession(baseURL: server.baseURL) {
                $0.transport = transport
                $0.secretFields = ["ticket"]
            }
            let body = RequestBody.string("{\"ticket\":\"\(ticket)\"}", contentType: "application/json")
            let target = HTTP.Target("t?ticket=\(ticket)")
            let answer = try await client.post(target, fields: ["Ticket": ticket], body: body, as: .string).value
            #expect(answer.contains(mode == .replay ? "***" : "pl4nted"))
            try await transport.finish()
        }
        #expect(try !String(decoding: Data(contentsOf: URL(filePath: path)), as: UTF8.self).contains("pl4nted"))
    }

    @Test func `names that a transport is given are left out of what it records, anew and in addition`() async throws {
        let (folder, server) = (try Folder(with: "a"), try LoopbackServer())
        defer { server.stop() }
        let path = "\(folder.path)/a.har"
        server.respond { _ in .response(body: "x") }
        for (mode, targets) in [
            (RecordedTransport.Mode.recordAnew, ["a?ticket=one"]), (.recordMissing, ["a?ticket=two", "b?ticket=two"]),
            (.replay, ["a?ticket=three", "b?ticket=three"]),
        ] {
            let transport = try RecordedTransport(path, mode, secretFields: mode == .replay ? .usual : ["ticket"])
            let client = try HTTPSession(baseURL: server.baseURL) { $0.transport = transport }
            for target in targets { _ = try await client.get(HTTP.Target(target), as: .string) }
            await client.shutdown()
            try await transport.finish()
            let har = try HAR(contentsOf: path)
            #expect(har.entries.count == min(2, targets.count) && har.secretNames == ["ticket"])
        }
    }

    @Test func `what is recorded is sent under the guard that it is given`() async throws {
        let (folder, server) = (try Folder(with: "a"), try LoopbackServer())
        defer { server.stop() }
        let transport = try RecordedTransport("\(folder.path)/new/a.har", .recordAnew) { $0.guard = .publicInternet }
        let client = try HTTPSession(baseURL: server.baseURL) { $0.transport = transport }
        let error = await #expect(throws: NetworkError.self) { try await client.get("a", as: .string) }
        #expect(error?.code == .guardRefused && server.requests.isEmpty && server.connectionCount == 0)
        await transport.giveUp()
        #expect(try FileManager.default.contentsOfDirectory(atPath: "\(folder.path)/new").isEmpty)
    }

    @Test func `an archive that somebody records anew is not recorded anew by another`() async throws {
        let (folder, server) = (try Folder(with: "a"), try LoopbackServer())
        defer { server.stop() }
        server.respond { _ in .response(body: "x") }
        let path = "\(folder.path)/a.har"
        // What a process that was killed has left.
        try folder.write("{\"log\":{\"entries\":[", as: "a.har.new")
        let transport = try RecordedTransport(path, .recordAnew)
        #expect(throws: HAR.Problem.self) { try RecordedTransport(path, .recordAnew) }
        let client = try HTTPSession(baseURL: server.baseURL) { $0.transport = transport }
        _ = try await client.get("a", as: .string)
        await client.shutdown()
        try await transport.finish()
        #expect(try HAR(contentsOf: path).entries.map(\.request.url) == [server.baseURL + "/a"])
    }

    @Test func `each one answers once, in order if that is asked`() async throws {
        let entries = [("a", "1"), ("b", "2"), ("a", "3")].map {
            Self.entry("GET", "https://a.test/v1/\($0.0)", 200, $0.1)
        }
        let any = try Self.session(try Self.transport(entries))
        for (target, body) in [("b", "2"), ("a", "1"), ("a", "3")] {
            #expect(try await any.get(HTTP.Target(target), as: .string).value == body)
        }
        let error = await #expect(throws: NetworkError.self) { try await any.get("a", as: .string) }
        #expect(error?.reason.contains("less often") == true)
        let ordered = try Self.session(try Self.transport(entries, .init(inOrder: true)))
        #expect(try await ordered.get("a", as: .string).value == "1")
        await #expect(throws: NetworkError.self) { try await ordered.get("a", as: .string) }
    }

    @Test func `a failure is replayed as one, before the head or within the body`() async throws {
        var refused = Self.entry("GET", "https://a.test/v1/a", 0)
        refused.response.error = "connectionFailed"
        var broken = Self.entry("GET", "https://a.test/v1/b", 200, "half")
        broken.response.error = "connectionClosed"
        let client = try Self.session(try Self.transport([refused, broken]))
        let first = await #expect(throws: NetworkError.self) { try await client.get("a", as: .string) }
        #expect(first?.code == .connectionFailed)
        var read: [Bytes] = []
        let second = await #expect(throws: NetworkError.self) {
            try await client.withResponse(from: "b") { for try await piece in $0.body { read.append(piece) } }
        }
        #expect(second?.code == .connectionClosed && read == ["half"])
    }

    @Test func `an answer comes in the recorded time on a clock, and at once without one`() async throws {
        let clock = ManualClock()
        var slow = Self.entry("GET", "https://a.test/v1/a", 200, "a")
        slow.timings.wait = 3_600_000
        let client = try Self.session(try Self.transport([slow], clock: clock))
        async let value = client.get("a", as: .string).value
        try await clock.waitForSleepers(1)
        try await clock.advance(by: .seconds(3600))
        #expect(try await value == "a")
        #expect(try await Self.session(try Self.transport([slow])).get("a", as: .string).value == "a")
    }

    @Test func `a replayed wait ends with a cancel, and at the limit of the request`() async throws {
        let clock = ManualClock()
        var slow = Self.entry("GET", "https://a.test/v1/a", 200, "a")
        slow.timings.wait = 3_600_000
        let client = try Self.session(try Self.transport([slow, slow], clock: clock))
        let task = try client.task("a", as: .string)
        task.resume()
        try await clock.waitForSleepers(1)
        task.cancel()
        let cancelled = await #expect(throws: NetworkError.self) { try await task.value }
        #expect(cancelled?.code == .cancelled)
        let late = await #expect(throws: NetworkError.self) {
            try await client.get("a", timeout: .milliseconds(20), as: .string)
        }
        #expect(late?.code == .timedOut)
    }

    @Test func `ten thousand requests are recorded and replayed with equal results`() async throws {
        let folder = try Folder(with: "a")
        let (path, count) = ("\(folder.path)/a.har", 10_000)
        let backend = MockTransport()
        backend.otherwise { .respond(body: Bytes(($0.target + String($0.body)).utf8)) }
        func play(_ transport: any Transport, _ recorder: HARRecorder?) async throws -> [String] {
            let client = try HTTPSession(baseURL: "http://a.test") {
                $0.transport = transport
                if let recorder { $0.observers.append(recorder) }
            }
            let values = try await withThrowingTaskGroup(of: (Int, String).self) { group in
                for lane in 0..<10 {
                    group.addTask {
                        var text = ""
                        for number in stride(from: lane, to: count, by: 10) {
                            let target = HTTP.Target("\(number % 7)?n=\(number / 3)")
                            text +=
                                try await number % 2 == 0
                                ? client.get(target, as: .string).value
                                : client.post(target, body: .string("\(number)"), as: .string).value
                        }
                        return (lane, text)
                    }
                }
                return try await group.reduce(into: [Int: String]()) { $0[$1.0] = $1.1 }
            }
            return values.sorted { $0.key < $1.key }.map(\.value)
        }
        let recorder = try HARRecorder(path, .init(bodyLimit: 1000))
        let live = try await play(backend, recorder)
        try await recorder.finish()
        let transport = try RecordedTransport(path)
        #expect(try await play(transport, nil) == live)
        try await transport.finish()
        #expect(try HAR(contentsOf: path).entries.count == count)
    }

    @Test(arguments: [
        ("body", "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0In0.abc"), ("body", "key AKIAIOSFODNN7EXAMPLE!"),
        ("field", "ghp_0123456789012345678901234567890123456"), ("url", "-----BEGIN%20"),
        ("interim", "ghp_0123456789012345678901234567890123456"), ("cookie", "/AKIAIOSFODNN7EXAMPLE/"),
        ("reason", "OK AKIAIOSFODNN7EXAMPLE"),
    ]) func `what looks like a secret fails the test`(place: String, secret: String) async throws {
        var entry = Self.entry("GET", "https://a.test/v1/a", 200, place == "body" ? secret : "")
        let field = HAR.NameValue("X-Note", secret)
        switch place {
        case "field": entry.response.headers = [field]
        case "interim": entry.interim = [HAR.Interim(103, [field])]
        case "reason": entry.response.statusText = secret
        case "cookie":
            var cookie = HAR.Cookie("a", "***")
            cookie.path = secret
            entry.response.cookies = [cookie]
        default: break
        }
        let transport = try Self.transport([entry])
        _ = try await Self.session(transport).get("a", as: .string)
        if place == "url" { return try await transport.finish() }
        let failure = await #expect(throws: RecordedTransport.Failure.self) { try await transport.finish() }
        #expect(failure?.secrets.count == 1 && failure.map { !"\($0)".contains(secret) } == true)
    }

    @Test func `an entry without what is needed is refused by name`() async throws {
        var (noBody, cut) = (
            Self.entry("GET", "https://a.test/v1/a", 200), Self.entry("GET", "https://a.test/v1/b", 200, "x")
        )
        noBody.response.content.size = 7
        cut.response.content.isCut = true
        let client = try Self.session(try Self.transport([noBody, cut, Self.entry("GET", "https://a.test/v1/c", 0)]))
        for (target, reason) in [("a", "with contents"), ("b", "all of its body"), ("c", "no response")] {
            let error = await #expect(throws: (any Error).self) {
                try await client.get(HTTP.Target(target), as: .string)
            }
            #expect(error.map { "\($0)".contains(reason) } == true, "\(target)")
        }
    }

    @Test func `a form of parts and a compressed body match what was recorded of them`() async throws {
        let folder = try Folder(with: "a")
        let path = "\(folder.path)/a.har"
        let backend = MockTransport()
        backend.otherwise { _ in .respond(body: "x") }
        func play(_ transport: any Transport, _ recorder: HARRecorder?) async throws {
            let client = try HTTPSession(baseURL: "http://a.test") {
                $0.transport = transport
                if let recorder { $0.observers.append(recorder) }
            }
            for value in ["1", "2"] {
                let form = try RequestBody.multipart {
                    MultipartPart.field("a", value)
                    MultipartPart.field("b", "\(value) b")
                }
                _ = try await client.post("form", body: form, as: .string)
            }
            let body = try RequestBody.string(String(repeating: "text ", count: 99)).compressed()
            _ = try await client.post("coded", body: body, as: .string)
        }
        let recorder = try HARRecorder(path, .init(bodyLimit: 10_000))
        try await play(backend, recorder)
        try await recorder.finish()
        let transport = try RecordedTransport(path)
        try await play(transport, nil)
        try await transport.finish()
    }

    @Test func `a HEAD keeps the length that it tells, and a failure says what it said`() async throws {
        var head = Self.entry("HEAD", "https://a.test/v1/a", 200)
        head.response.headers = [HAR.NameValue("Content-Length", "77")]
        var failed = Self.entry("POST", "https://a.test/v1/b", 0)
        failed.response.error = "connectionFailed"
        (failed.response.errorPhase, failed.response.isUnsent, failed.response.isSafeToRetry) = ("connect", true, true)
        failed.time = 1e300
        let client = try Self.session(try Self.transport([head, failed]))
        #expect(try await client.head("a").head.fields["Content-Length"] == "77")
        let error = await #expect(throws: NetworkError.self) { try await client.post("b", as: .string) }
        #expect(error?.phase == .connect && error?.requestMayHaveBeenSent == false && error?.isSafeToRetry == true)
    }

    @Test func `entries answer in the order in which they began`() async throws {
        var (late, early) = (
            Self.entry("GET", "https://a.test/v1/a", 200, "2"), Self.entry("GET", "https://a.test/v1/a", 200, "1")
        )
        late.startedDateTime = Date(timeIntervalSince1970: 9)
        early.startedDateTime = Date(timeIntervalSince1970: 8)
        let client = try Self.session(try Self.transport([late, early], .init(inOrder: true)))
        for body in ["1", "2"] { #expect(try await client.get("a", as: .string).value == body) }
    }

    @Test func `codings that were undone and framing are not replayed`() async throws {
        var entry = Self.entry("GET", "https://a.test/v1/a", 200, "text")
        entry.response.headers = [
            HAR.NameValue(":status", "200"), HAR.NameValue("content-encoding", "br"),
            HAR.NameValue("content-length", "3"), HAR.NameValue("transfer-encoding", "chunked"),
            HAR.NameValue("set-cookie", "a=1\nb=2"),
        ]
        let response = try await Self.session(try Self.transport([entry])).get("a", as: .string)
        #expect(response.value == "text")
        #expect(response.head.fields.values(of: "Set-Cookie").count == 2)
        #expect(response.head.fields["Content-Encoding"] == nil)
    }
}
