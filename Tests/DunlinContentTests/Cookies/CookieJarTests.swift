import Dunlin
import DunlinTesting
import Folders
import FoundationEssentials
import LedgerRows
import Mocking
import Testing

@testable import DunlinContent

@Suite(.timeLimit(.minutes(10))) struct `A cookie jar` {
    private static func mocked(
        _ jar: CookieJar?, _ change: (inout HTTPSession.Configuration) throws -> Void = { _ in }
    ) throws -> Mocked {
        try Mocked("http://api.test") { configuration in
            configuration.cookies = jar
            try change(&configuration)
        }
    }

    private static func jar(_ fields: Fields = [:], from url: String = "http://api.test/") throws -> CookieJar {
        let jar = CookieJar(publicSuffixes: "test\nco.test\n") { 1000 }
        try jar.receive(fields, from: url)
        return jar
    }

    private static func cookies(_ mocked: Mocked) -> [[String]] {
        mocked.transport.requests.map { $0.fields.values(of: "cookie") }
    }

    @Test func `a cookie jar goes by the clock that it is given`() async throws {
        let clock = ManualClock()
        let jar = CookieJar(clock: clock)
        try jar.receive(["Set-Cookie": "a=1; Max-Age=60", "set-cookie": "b=1"], from: "http://api.test/")
        try await clock.advance(by: .seconds(59))
        #expect(jar.cookies.map(\.name) == ["a", "b"])
        #expect(try jar.cookies(for: "http://api.test/x").count == 2)
        try await clock.advance(by: .seconds(2))
        #expect(jar.cookies.map(\.name) == ["b"])
    }

    @Test(.rows("RQ-57"), .rules("6265bis-7.2-1")) func `a session has no cookie jar unless it is given one`()
        async throws
    {
        let mocked = try Mocked()
        mocked.transport.otherwise { _ in .respond(fields: ["Set-Cookie": "a=1"]) }
        for _ in 0..<2 { _ = try await mocked.session.get("x", as: .bytes) }
        #expect(Self.cookies(mocked) == [[], []])
    }

    @Test(.rows("RQ-57"), .rules("6265bis-5.3-1"))
    func `cookies are sent back to the server that set them, also those set by a redirect`()
        async throws
    {
        let jar = try Self.jar()
        let mocked = try Self.mocked(jar)
        mocked.transport.on(.post, "/login").respond(303, fields: ["Location": "/home", "Set-Cookie": "id=1; Path=/"])
        mocked.transport.otherwise { _ in .respond(fields: ["Set-Cookie": "seen=yes", "set-cookie": "too=2"]) }
        _ = try await mocked.session.post("login", as: .bytes)
        _ = try await mocked.session.get("x", as: .bytes)
        #expect(Self.cookies(mocked) == [[], ["id=1"], ["id=1; seen=yes; too=2"]])
        #expect(jar.cookies.map(\.name) == ["id", "seen", "too"])
    }

    @Test(.rules("6265bis-5.3-1"), arguments: [401, 404, 500] as [HTTP.Status])
    func `cookies of an error are kept like others`(status: HTTP.Status) async throws {
        let jar = try Self.jar()
        let mocked = try Self.mocked(jar)
        mocked.transport.otherwise { _ in .respond(status, fields: ["Set-Cookie": "a=1"]) }
        _ = try await networkError { _ = try await mocked.session.get("x", as: .bytes) }
        #expect(jar.cookies.map(\.name) == ["a"])
    }

    /// A login that leads back to where it came from is no loop.
    @Test func `a redirect that has set a cookie may lead back to the same URL`() async throws {
        let mocked = try Self.mocked(try Self.jar())
        mocked.transport.otherwise { request in
            if request.fields["cookie"] == "a=1" { return .respond(body: "in") }
            return .respond(302, fields: ["Location": "/", "Set-Cookie": "a=1"])
        }
        #expect(try await mocked.session.get("/", as: .string).value == "in")
        let without = try Mocked("http://api.test")
        without.transport.otherwise { _ in .respond(302, fields: ["Location": "/", "Set-Cookie": "a=1"]) }
        let error = try await networkError { _ = try await without.session.get("/", as: .string) }
        #expect(error?.code == .redirectLoop)
    }

    @Test func `redirects that set a cookie each time end at the redirect limit`() async throws {
        let mocked = try Self.mocked(try Self.jar())
        mocked.transport.otherwise { _ in .respond(302, fields: ["Location": "/", "Set-Cookie": "a=1"]) }
        let error = try await networkError { _ = try await mocked.session.get("/", as: .string) }
        #expect(error?.code == .tooManyRedirects)
    }

    @Test(.rules("9110-15.4-3"))
    func `each origin gets its own cookies, and a caller's Cookie field stays with its origin`() async throws {
        let jar = try Self.jar(["Set-Cookie": "here=1"])
        try jar.receive(["Set-Cookie": "there=2"], from: "http://other.test/")
        let mocked = try Self.mocked(jar)
        mocked.transport.on(.get, "/from").respond(302, fields: ["Location": "http://other.test/to"])
        mocked.transport.otherwise { _ in .respond(fields: ["Set-Cookie": "late=3"]) }
        let options = HTTPSession.Options(fields: ["Cookie": "own=0"])
        _ = try await mocked.session.get("from", options: options, as: .bytes)
        #expect(Self.cookies(mocked) == [["own=0; here=1"], ["there=2"]])
        #expect(try jar.cookies(for: "http://other.test/").map(\.name) == ["there", "late"])
        #expect(try jar.cookies(for: "http://api.test/").map(\.name) == ["here"])
    }

    @Test(.rules("9110-5.3-1", "6265bis-5.8.1-1"))
    func `the jar leaves out cookies that the caller sends, and all of them go in one field`() async throws {
        let mocked = try Self.mocked(try Self.jar(["Set-Cookie": "a=1", "set-cookie": "b=2"]))
        mocked.transport.otherwise { _ in .respond() }
        var fields: Fields = ["Cookie": "a=own"]
        fields.append(name: "cookie", value: "c=3")
        _ = try await mocked.session.get("x", options: .init(fields: fields), as: .bytes)
        #expect(Self.cookies(mocked) == [["a=own; c=3; b=2"]])
    }

    @Test func `a request that does not handle cookies neither sends nor stores any`() async throws {
        let jar = try Self.jar(["Set-Cookie": "a=1"])
        let mocked = try Self.mocked(jar)
        mocked.transport.otherwise { _ in .respond(fields: ["Set-Cookie": "b=2"]) }
        var options = HTTPSession.Options()
        options.handlesCookies = false
        _ = try await mocked.session.get("x", options: options, as: .bytes)
        options.handlesCookies = true
        #expect(jar.cookies.map(\.name) == ["a"])
        _ = try await mocked.session.get("x", options: options, as: .bytes)
        #expect(Self.cookies(mocked) == [[], ["a=1"]])
        #expect(jar.cookies.map(\.name) == ["a", "b"])
    }

    @Test(.rows("RQ-57")) func `sessions that were given the same jar share its cookies`() async throws {
        let jar = try Self.jar()
        let (first, second) = (try Self.mocked(jar), try Self.mocked(jar))
        for mocked in [first, second] {
            mocked.transport.otherwise { _ in .respond(fields: ["Set-Cookie": "a=1"]) }
            _ = try await mocked.session.get("x", as: .bytes)
        }
        #expect(Self.cookies(first) + Self.cookies(second) == [[], ["a=1"]])
    }

    @Test(.rows("G-6")) func `a copy of a configuration has the same jar, and shares nothing else that is set in it`()
        async throws
    {
        var original = HTTPSession.Configuration(baseURL: "http://api.test", transport: MockTransport())
        original.cookies = try Self.jar()
        var copy = original
        copy.fields["X-Copy"] = "1"
        let (first, second) = (MockTransport(), MockTransport())
        (original.transport, copy.transport) = (first, second)
        for (configuration, transport) in [(original, first), (copy, second)] {
            transport.otherwise { _ in .respond(fields: ["Set-Cookie": "a=1"]) }
            _ = try await HTTPSession(configuration).get("x", as: .bytes)
        }
        #expect(first.requests.map { $0.fields["cookie"] } == [nil])
        #expect(second.requests.map { $0.fields["cookie"] } == ["a=1"])
        #expect(first.requests.map { $0.fields["x-copy"] } == [nil])
        copy.cookies = nil
        #expect(original.cookies?.cookies.map(\.name) == ["a"])
    }

    @Test func `each attempt takes its cookies from the jar anew`() async throws {
        let mocked = try Self.mocked(try Self.jar()) { configuration in
            configuration.retry = .exponential(attempts: 2, budget: .unlimited)
            configuration.random = { 0 }
        }
        mocked.transport.otherwise { request in
            request.fields["cookie"] == nil
                ? .respond(503, fields: ["Set-Cookie": "a=1", "Retry-After": "0"]) : .respond(body: "in")
        }
        #expect(try await mocked.session.get("x", as: .string).value == "in")
        #expect(Self.cookies(mocked) == [[], ["a=1"]])
    }

    @Test func `streams, request tasks and downloads all send and store cookies`() async throws {
        let jar = try Self.jar(["Set-Cookie": "a=1"])
        let mocked = try Self.mocked(jar)
        mocked.transport.otherwise { request in
            .respond(fields: ["Set-Cookie": "\(request.path.dropFirst())=1"], body: "body")
        }
        _ = try await mocked.session.withResponse(from: "s") { response in
            for try await _ in response.body {}
        }
        _ = try await mocked.session.task("w", as: .bytes).value
        let file = try await mocked.session.download("d", to: .temporary).value
        try FileManager.default.removeItem(atPath: file.path)
        #expect(Self.cookies(mocked) == [["a=1"], ["a=1; s=1"], ["a=1; s=1; w=1"]])
        #expect(jar.cookies.map(\.name) == ["a", "s", "w", "d"])
    }

    @Test(.rules("6265bis-7.2-1")) func `a jar's owner can set, look up and remove cookies`() throws {
        let jar = try Self.jar()
        try jar.set(HTTP.Cookie(name: "a", value: "1", domain: "api.test", path: "/p"))
        try jar.set(HTTP.Cookie(name: "b", value: "2", domain: "api.test", isHostOnly: false))
        try jar.set(HTTP.Cookie(name: "c", value: "3", domain: "api.test", expires: 1000))
        #expect(try jar.cookies(for: "http://api.test/p?q").map(\.name) == ["a", "b"])
        #expect(try jar.cookies(for: "http://x.api.test/").map(\.name) == ["b"])
        #expect(throws: NetworkError.self) { try jar.cookies(for: "ftp://api.test/") }
        #expect(jar.remove { $0.name == "a" } == 1)
        #expect(jar.remove { $0.name == "a" } == 0)
        #expect(jar.cookies.map(\.name) == ["b"])
        jar.removeAll()
        #expect(jar.cookies.isEmpty)
    }

    static let unfit: [HTTP.Cookie] = [
        .init(name: "", value: "", domain: "a.test"), .init(name: "a=", value: "1", domain: "a.test"),
        .init(name: "a;", value: "1", domain: "a.test"), .init(name: "a", value: "1;2", domain: "a.test"),
        .init(name: "a", value: "1\r\nX: y", domain: "a.test"), .init(name: "a", value: " 1", domain: "a.test"),
        .init(name: "a", value: "1", domain: ""), .init(name: "a", value: "1", domain: ".a.test"),
        .init(name: "a", value: "1", domain: "A.test"), .init(name: "a", value: "1", domain: "a.test", path: "p"),
        .init(name: "a", value: String(repeating: "1", count: 4096), domain: "a.test"),
    ]

    @Test(arguments: unfit)
    func `a cookie that could not be sent as it is is refused`(cookie: HTTP.Cookie) throws {
        let jar = try Self.jar()
        let error = #expect(throws: NetworkError.self) { try jar.set(cookie) }
        #expect(error?.code == .invalidRequest)
        #expect(jar.cookies.isEmpty)
        let text = try JSONEncoder().encode(CookieJar.Snapshot(cookies: [cookie]))
        #expect(throws: DecodingError.self) { try JSONDecoder().decode(CookieJar.Snapshot.self, from: text) }
    }

    @Test(.rules("6265bis-5.7-13"), arguments: [(false, ["b"]), (true, ["a", "b"])])
    func `a snapshot restores cookies in their order, session cookies only if it includes them`(
        isWhole: Bool, names: [String]
    ) throws {
        let jar = try Self.jar(["Set-Cookie": "a=1; HttpOnly; SameSite=None", "set-cookie": "b=2; Max-Age=60"])
        let text = try JSONEncoder().encode(jar.snapshot(includingSessionCookies: isWhole))
        let other = try Self.jar()
        other.restore(try JSONDecoder().decode(CookieJar.Snapshot.self, from: text))
        #expect(other.cookies.map(\.name) == names)
        #expect(other.cookies == jar.cookies.filter { names.contains($0.name) })
        let later = CookieJar(publicSuffixes: "") { 1060 }
        later.restore(jar.snapshot())
        #expect(later.cookies.isEmpty)
    }

    @Test(.rows("AP-5")) func `a snapshot of another version is refused`() {
        let text = Data(#"{"version": 2, "cookies": []}"#.utf8)
        #expect(throws: DecodingError.self) { try JSONDecoder().decode(CookieJar.Snapshot.self, from: text) }
    }

    @Test(.rules("6265bis-8.3-1")) func `the description of a jar or of a cookie shows no values`() throws {
        let jar = try Self.jar(["Set-Cookie": "id=secret; Max-Age=5; Secure"], from: "https://api.test/")
        let cookie = try #require(jar.cookies.first)
        var dumped = ""
        for value in [jar, cookie, jar.cookies, jar.snapshot()] as [Any] {
            dump(value, to: &dumped)
            dumped += "\(value) \(String(reflecting: value))"
        }
        #expect(dumped.contains("id=<redacted>; for api.test"))
        #expect(!dumped.contains("secret"))
    }

    @Test func `a saved configuration holds no cookie jar`() throws {
        var configuration = HTTPSession.Configuration()
        configuration.cookies = try Self.jar(["Set-Cookie": "id=hidden"])
        #expect(HTTPSession.SavedConfiguration(configuration).configuration.cookies == nil)
        let text = try JSONEncoder().encode(HTTPSession.SavedConfiguration(configuration))
        #expect(!String(decoding: text, as: UTF8.self).contains("hidden"))
    }

    @Test func `public suffixes are read from a given file, or else from the system's`() throws {
        let folder = try Folder()
        let path = try folder.write("shared.test\n", as: "suffixes")
        let jar = try CookieJar(publicSuffixFile: path)
        try jar.receive(["Set-Cookie": "a=1; Domain=shared.test"], from: "http://me.shared.test/")
        #expect(jar.cookies.isEmpty)
        #expect(throws: (any Error).self) { try CookieJar(publicSuffixFile: path + ".none") }
        let system = CookieJar()
        try system.receive(["Set-Cookie": "a=1; Domain=test"], from: "http://me.test/")
        #expect(system.cookies.isEmpty)
    }

    private static let list = "/usr/share/publicsuffix/public_suffix_list.dat"

    @Test(
        .enabled(if: FileManager.default.fileExists(atPath: list)),
        arguments: [
            ("me.co.uk", "co.uk", 0), ("me.github.io", "github.io", 0), ("a.xn--55qx5d.cn", "xn--55qx5d.cn", 0),
            ("www.ck", "www.ck", 1), ("a.www.ck", "www.ck", 1), ("a.b.ck", "b.ck", 0),
            ("a.example.com", "example.com", 1),
        ])
    func `the system's list of public suffixes decides which domains may have cookies`(
        host: String, domain: String, count: Int
    ) throws {
        let jar = CookieJar()
        try jar.receive(["Set-Cookie": "a=1; Domain=\(domain)"], from: "http://\(host)/")
        #expect(jar.cookies.count == count)
    }

    @Test func `a jar loses no cookie when many requests use it at once`() async throws {
        let jar = try Self.jar()
        let mocked = try Self.mocked(jar)
        mocked.transport.otherwise { .respond(fields: ["Set-Cookie": "n\($0.path.dropFirst())=1"]) }
        try await withThrowingTaskGroup { group in
            for number in 0..<40 {
                group.addTask { @Sendable in _ = try await mocked.session.get("\(number)", as: .bytes) }
            }
            try await group.waitForAll()
        }
        #expect(jar.cookies.count == 40)
    }
}
