import Dunlin
import DunlinSecure
import DunlinTesting
import DunlinTypes
import FoundationEssentials
import Testing

@testable import DunlinTransfers

@Suite(.timeLimit(.minutes(10))) struct `An entry of a journal` {
    static let id = "0123456789abcdef0123456789abcdef"

    static func request(_ method: String = "GET", _ fields: [String] = []) -> JournalEntry.Request {
        var request = JournalEntry.Request(method: method, url: "https://a.test/x?y=z")
        for index in stride(from: 0, to: fields.count - 1, by: 2) {
            request.saved.options.fields.append(name: fields[index], value: fields[index + 1])
        }
        return request
    }

    static var download: JournalEntry.Work {
        get throws {
            var options = HTTPSession.DownloadOptions(overwrites: true, contentTypes: ["image/*"], bodyLimit: 5)
            options.digest = try ContentDigest(.sha256, hex: String(repeating: "a0", count: 32))
            options.segments = .init(3, minimumLength: 5)
            return .download(try #require(JournalEntry.Download(.folder("/data/ü"), options)))
        }
    }

    static let upload = JournalEntry.Work.upload(.init(path: "/data/film.mp4", contentType: "video/mp4"))
    static let named = JournalEntry.NamedFile(path: "/data/x", number: .max, length: 7, modified: 9)

    static func entry(
        _ work: JournalEntry.Work, _ state: JournalEntry.State = .waiting, metadata: String? = nil
    ) -> JournalEntry {
        var entry = JournalEntry(id: id, request: request(), work: work, metadata: metadata)
        entry.state = state
        return entry
    }

    @Test func `a journal entry is read as it was written`() throws {
        var running = Self.entry(try Self.download, .running, metadata: #"{"title":"ü"}"#)
        running.attempts = 3
        running.failures = 2
        running.request.saved = SavedOptions(
            HTTPSession.Options(
                fields: ["Accept": "*/*"], timeouts: .init(readIdle: .seconds(5)), label: "seven",
                guard: .publicInternet))
        for entry in [
            running, Self.entry(try Self.download, .publishing(Self.named)), Self.entry(Self.upload),
            Self.entry(Self.upload, .running),
        ] {
            #expect(try JournalEntry(try entry.bytes(), id: Self.id) == entry)
        }
    }

    /// As 0.1.0 wrote it.
    private static func former(_ request: String) throws -> JournalEntry {
        let content = """
            {"attempts":1,"failures":0,"id":"\(id)",\(request),"state":{"waiting":{}},"work":{"upload":{"_0":\
            {"contentType":"video/mp4","path":"/data/film.mp4"}}}}

            """
        let digits = Hex.text(Array(content.utf8).withUnsafeBytes { Checksum.value(of: $0) }, count: 16)
        return try JournalEntry(Array("dunlin-transfer 2 \(digits)\n\(content)".utf8), id: id)
    }

    @Test func `an entry of the version before is read with all that it says`() throws {
        let whole = try Self.former(
            #"""
            "request":{"acceptsAnyStatus":true,"cacheMode":"off","fields":["Accept","*/*","X-Key","k"],"formerURLs":\#
            ["https://b.test/x"],"handlesCookies":false,"hasNoCredentials":true,"hasNoGuard":true,"hidesSecrets":true,\#
            "keepsCoding":true,"label":"seven","method":"PUT","redirects":{"allowsHTTPSToHTTP":true,"follows":true,\#
            "limit":3,"secretFields":["X-Own"]},"sensitiveFields":["x-key"],"timeouts":{"readIdle":5000000000,\#
            "total":9223372036854775807},"unsaved":["proxy"],"url":"https://a.test/x?y=***"}
            """#)
        let (request, options) = (whole.request, whole.request.saved.options)
        #expect(request.method == "PUT" && request.url == "https://a.test/x?y=***" && request.hidesSecrets)
        #expect(request.formerURLs == ["https://b.test/x"] && request.unsaved == ["proxy"])
        #expect(options.fields == ["Accept": "*/*", "X-Key": "k"] && options.fields.isSensitive("x-key"))
        #expect(!options.validatesResponse && !options.decodesContent && options.label == "seven")
        #expect(options.timeouts.readIdle == .value(.seconds(5)) && options.timeouts.total == .none)
        #expect(options.cacheMode == .value(.off) && options.handlesCookies == .value(false))
        #expect(options.guard == .none && options.credentials == .none)
        let redirects = try #require(options.redirects.resolved(nil))
        #expect(redirects.limit == 3 && redirects.follows && redirects.allowsHTTPSToHTTP)
        #expect(redirects.secretFields.contains("X-Own"))
        #expect(try JournalEntry(try whole.bytes(), id: Self.id) == whole)

        let bare = #""request":{"fields":[],"formerURLs":[],"method":"PUT","url":"https://a.test/"}"#
        #expect(try Self.former(bare).request == JournalEntry.Request(method: "PUT", url: "https://a.test/"))
        for wrong in [
            #""request":{"fields":["a"],"formerURLs":[],"method":"PUT","url":"https://a.test/"}"#, #""a":1"#,
            #""request":{"fields":[],"formerURLs":[],"method":"PUT","timeouts":{"total":-1},"url":"https://a.test/"}"#,
        ] { #expect(throws: JournalEntry.Damage.self) { try Self.former(wrong) } }
    }

    @Test func `a journal entry says whose guard counts, and options that say it themselves have the word`() throws {
        typealias Options = HTTPSession.Options
        let head = RequestHead(method: .get, origin: HTTP.Origin(scheme: .http, host: "a.test"), target: "/")
        for (saved, added) in [Options(guard: .none), Options(), Options(guard: .value(.publicInternet))].flatMap({
            saved in
            [nil, Options(fields: ["X-Own": "1"]), Options(guard: .none), Options(guard: .value(.publicInternet))]
                .map { (saved, $0) }
        }) {
            var entry = Self.entry(try Self.download)
            entry.request = JournalEntry.Request(head, saved, keeping: [])
            let restored = try JournalEntry(try entry.bytes(), id: Self.id).request.options(adding: added, under: nil)
            switch (added?.guard ?? .session, saved.guard, restored.guard) {
            case (.none, _, .none), (.value, _, .value): break
            case (.session, .none, .none), (.session, .session, .session), (.session, .value, .value): break
            default: Issue.record("\(saved.guard) and \(added?.guard as Any) make \(restored.guard)")
            }
        }
    }

    @Test func `a journal entry says what the file's bytes depend on`() throws {
        let head = RequestHead(method: .get, origin: HTTP.Origin(scheme: .http, host: "a.test"), target: "/")
        for mode in HTTPSession.CacheMode.allCases {
            var options = HTTPSession.Options()
            (options.decodesContent, options.validatesResponse, options.cacheMode) = (false, false, .value(mode))
            var entry = Self.entry(try Self.download)
            entry.request = JournalEntry.Request(head, options, keeping: [])
            let restored = try JournalEntry(try entry.bytes(), id: Self.id).request.options(adding: nil, under: nil)
            #expect(!restored.decodesContent && !restored.validatesResponse && restored.cacheMode == .value(mode))
            let added = entry.request.options(adding: HTTPSession.Options(cacheMode: .value(.off)), under: nil)
            #expect(!added.decodesContent && added.cacheMode == .value(.off))
        }
        let usual = JournalEntry.Request(head, HTTPSession.Options(), keeping: []).options(adding: nil, under: nil)
        #expect(usual.decodesContent && usual.validatesResponse && usual.cacheMode == .session)
    }

    @Test func `a journal entry of which anything is missing or different is damaged`() throws {
        let bytes = try Self.entry(try Self.download, .running, metadata: "1").bytes()
        for count in 0..<bytes.count {
            #expect(throws: JournalEntry.Damage.self) { try JournalEntry(Array(bytes[..<count]), id: Self.id) }
        }
        for index in bytes.indices {
            var spoilt = bytes
            spoilt[index] ^= 0x20
            #expect(throws: JournalEntry.Damage.self) { try JournalEntry(spoilt, id: Self.id) }
        }
        #expect(throws: JournalEntry.Damage.self) { try JournalEntry(bytes + [10], id: Self.id) }
        let other = String(Self.id.reversed())
        #expect(throws: JournalEntry.Damage("its name does not match its ID")) { try JournalEntry(bytes, id: other) }
    }

    private static func limited(_ bodyLimit: Int) -> JournalEntry.Work {
        .download(
            .init(
                path: "/data/x", isFolder: false, overwrites: true, createsFolders: true, preallocates: true,
                bodyLimit: bodyLimit, checksDigestFields: true))
    }

    @Test func `a journal entry with the largest counts is read and sent again`() throws {
        var entry = Self.entry(Self.limited(.max))
        (entry.attempts, entry.failures) = (1 << 32, 1 << 32)
        entry.request.saved.options.timeouts.readIdle = .none
        let read = try JournalEntry(try entry.bytes(), id: Self.id)
        #expect(read == entry)
        var machine = JournalMachine(read, .init())
        #expect(machine.start() == true)
        guard case .send(let sent) = machine.next() else {
            Issue.record("it is not sent")
            return
        }
        #expect(sent.attempts == (1 << 32) + 1)
    }

    @Test(arguments: [(0, 1), (5, 32), (31, 300), (Int.max, 300)])
    func `a retry is delayed no longer than the rules allow`(failures: Int, seconds: Int) {
        #expect(TransferJournal.Rules().delay(after: failures) == .seconds(seconds))
        var rules = TransferJournal.Rules()
        (rules.firstDelay, rules.longestDelay) = (.seconds(Int64.max), .seconds(Int64.max))
        #expect(rules.delay(after: failures) == .seconds(Int64.max))
        rules.firstDelay = .seconds(1 << 40)
        #expect(rules.delay(after: failures) <= .seconds(Int64.max))
    }

    /// Whole, and wrong all the same.
    static let contradictions: [@Sendable (inout JournalEntry) -> Void] = [
        { $0.request.url = "/x" },
        { $0.request.url = "ftp://a.test/" },
        { $0.request.url = "https://user:secret@a.test/" },
        { $0.request.method = "" },
        { $0.attempts = -1 },
        { $0.failures = -1 },
        { $0.attempts = .max },
        { $0.failures = .max },
        { $0.attempts = (1 << 32) + 1 },
        { $0.request.saved.options.timeouts.readIdle = .value(.nanoseconds(-1)) },
        { $0.request.saved.options.timeouts.readIdle = .value(.nanoseconds(Int64.min)) },
        { $0.request.saved.options.redirects = .follow(limit: -1) },
        { $0 = entry(limited(-1)) },
        { $0 = entry(limited(5), .publishing(.init(path: "/data/x", number: 1, length: -1, modified: .min))) },
        { $0 = entry(limited(5), .publishing(.init(path: "x", number: 1, length: 1, modified: 1))) },
        { $0 = entry(.upload(.init(path: "film.mp4"))) },
        { $0 = entry(.upload(.init(path: "/film\0.mp4"))) },
        { $0 = entry(upload, .publishing(named)) },
    ]

    @Test(arguments: contradictions.indices) func `a journal entry that contradicts itself is damaged`(index: Int)
        throws
    {
        var entry = Self.entry(Self.upload)
        Self.contradictions[index](&entry)
        let bytes = try entry.bytes()
        #expect(throws: JournalEntry.Damage.self) { try JournalEntry(bytes, id: Self.id) }
    }

    @Test func `a journal entry that is longer than the limit is refused`() async throws {
        let long = String(repeating: "x", count: JournalEntry.longest)
        let error = try await networkError { _ = try Self.entry(Self.upload, metadata: long).bytes() }
        #expect(error?.code == .limitExceeded)
        let bytes = [UInt8](repeating: 65, count: JournalEntry.longest + 1)
        #expect(throws: JournalEntry.Damage("it has more than 1048576 bytes")) { try JournalEntry(bytes, id: Self.id) }
    }

    @Test(arguments: [
        ("https://u:hunter2@a.test/x?a=%2Fb%20c&to=d%40e.test", "https://a.test/x?a=%2Fb%20c&to=d%40e.test"),
        ("https://a.test/x?next=%2Fcb%3Ftoken%3Dhunter2&b=1", "https://a.test/x?next=***&b=1"),
        ("https://a.test/x?u=http%3A//ada%3Ahunter2%40b.test/#c", "https://a.test/x?u=http%3A//***#c"),
        ("https://a.test/Session%3A%201.mp4?sig=hunter2", "https://a.test/Session%3A%201.mp4?sig=***"),
        ("https://a.test/Session%3A%201.mp4", "https://a.test/Session%3A%201.mp4"),
    ])
    func `a journal saves a URL without the secrets of its query, encoded ones too, and its path whole`(
        url: String, saved: String
    ) {
        let stored = StoredURL(url, hiding: .usual)
        #expect(stored.text == saved && stored.hidesSecrets == (url != saved))
        #expect(StoredURL(url, hiding: nil).text == url)
    }

    @Test func `a journal entry keeps no secret fields but those that are named`() throws {
        let origin = HTTP.Origin(scheme: .https, host: "a.test")
        var options = HTTPSession.Options(label: "own")
        options.fields = [
            "Authorization": "Bearer secret", "Cookie": "a=secret", "X-Api-Key": "secret", "X-Own": "kept",
            "Idempotency-Key": "known", "Range": "bytes=0-1", "Cf-Access-Jwt-Assertion": "secret",
            "X-Callback": "https://b.test/?token=secret", "Referer": "https://u:secret@b.test/",
        ]
        options.fields.append(name: "X-Plain", value: "secret", sensitive: true)
        options.timeouts = .init(readIdle: .seconds(5), total: .none)
        let head = RequestHead(method: .post, origin: origin, target: "/x?y=z")
        let request = JournalEntry.Request(head, options, keeping: ["idempotency-key"])
        #expect(request.url == "https://a.test/x?y=z")
        #expect(request.saved.options.fields == ["X-Own": "kept", "Idempotency-Key": "known"])
        #expect(request.saved.options.label == "own")
        let restored = request.options(adding: nil, under: nil)
        #expect(restored.fields == ["X-Own": "kept", "Idempotency-Key": "known"])
        #expect(restored.timeouts == options.timeouts)
        #expect(restored.label == "own")
        let added = request.options(
            adding: .init(fields: ["x-own": "new", "Authorization": "again"], label: "other"), under: nil)
        #expect(added.fields == ["Idempotency-Key": "known", "x-own": "new", "Authorization": "again"])
        #expect(added.label == "other")
    }

    @Test func `a download is journaled only if another process can use its destination`() throws {
        let options = HTTPSession.DownloadOptions()
        #expect(JournalEntry.Download(.temporary, options) == nil)
        #expect(JournalEntry.Download(.resolved { _, _ in nil }, options) == nil)
        let file = try #require(JournalEntry.Download(.file("/a/b"), options))
        #expect("\(file.destination.kind)" == #"file("/a/b")"#)
        guard case .download(let full) = try Self.download else { return }
        #expect("\(full.destination.kind)" == #"folder("/data/ü")"#)
        #expect(full.options.digest == full.contentDigest && full.contentDigest != nil)
        #expect(full.options.overwrites && full.options.isDurable && full.options.bodyLimit == 5)
        #expect(full.options.contentTypes == ["image/*"])
        #expect(full.options.segments == .init(3, minimumLength: 5) && file.options.segments == nil)
    }

    @Test(
        arguments: [
            ("GET", [], true), ("PUT", [], true), ("POST", [], false), ("PATCH", ["X", "y"], false),
            ("POST", ["idempotency-KEY", "7"], true), ("POST", ["X", "Idempotency-Key"], false),
        ] as [(String, [String], Bool)])
    func `a request is repeatable by its method or by its Idempotency-Key`(
        method: String, fields: [String], expected: Bool
    ) {
        #expect(Self.request(method, fields).isRepeatable == expected)
    }

    @Test func `every journal entry has a valid name of its own`() {
        let ids = Set((0..<100).map { _ in JournalEntry.makeID() })
        #expect(ids.count == 100)
        #expect(ids.allSatisfy { JournalEntry.isID($0) })
        for text in ["", "abc", String(repeating: "g", count: 32), Self.id + "0", "../../etc/passwd"] {
            #expect(!JournalEntry.isID(text))
        }
    }
}
