import Dunlin
import DunlinTesting
import Mocking
import Synchronization
import Testing

/// Passwords that belong to single requests: in their options, and in their URLs.
@Suite(.timeLimit(.minutes(10))) struct `A request with a password` {
    private static let digest = "Digest realm=d, nonce=n, qop=auth, algorithm=SHA-256"

    private static func mocked(
        _ challenges: String = "\(digest), Basic realm=d", base: String? = "http://api.test",
        _ change: (inout HTTPSession.Configuration) throws -> Void = { _ in }
    ) throws -> Mocked {
        let mock = try Mocked(base, change)
        mock.transport.otherwise { request in
            if request.path == "/away" { return .respond(302, fields: ["Location": "http://eve:x@other.test/"]) }
            return request.fields.contains("authorization")
                ? .respond(body: "in") : .respond(401, fields: ["WWW-Authenticate": challenges])
        }
        return mock
    }

    private static func users(_ mock: Mocked) -> [String?] {
        mock.transport.requests.map { $0.fields["authorization"].map { String($0.prefix(21)) } }
    }

    private static let ada = HTTPSession.Options(credentials: .password(user: "ada", password: "pw"))

    @Test func `a request's password answers for the request alone, and its nonces are counted for the user`()
        async throws
    {
        let mock = try Self.mocked()
        for _ in 0..<2 { #expect(try await mock.session.get("x", options: Self.ada, as: .string).value == "in") }
        let other = HTTPSession.Options(credentials: .password(user: "eve", password: "pw"))
        _ = try await mock.session.get("x", options: other, as: .string)
        let error = try await networkError { _ = try await mock.session.get("x", as: .string) }
        #expect(error?.response?.status == 401)
        let (ada, eve) = ("Digest username=\"ada\"", "Digest username=\"eve\"")
        #expect(Self.users(mock) == [nil, ada, ada, nil, eve, nil])
        #expect(mock.transport.requests[2].fields["authorization"]?.contains("nc=00000002") == true)
    }

    @Test(arguments: ["http://ada:pw@api.test/x", "http://ada:pw@b.test/x"], [nil, "http://api.test"])
    func `user info answers by Digest, for its URL alone`(url: String, base: String?) async throws {
        let mock = try Self.mocked(base: base)
        #expect(try await mock.session.get(url: url, as: .string).value == "in")
        #expect(Self.users(mock) == [nil, "Digest username=\"ada\""])
        _ = try await networkError {
            _ = try await mock.session.get(url: url.replacing("ada:pw@", with: ""), as: .string)
        }
        #expect(Self.users(mock).last == .some(nil))
    }

    @Test func `user info of the base URL answers for the session`() async throws {
        let mock = try Self.mocked(base: "http://ada:pw@api.test/v1")
        for target in ["x", "./y", "http://ada:pw@api.test/v1/z"] {
            #expect(try await mock.session.get(url: target, as: .string).value == "in")
        }
        let ada = "Digest username=\"ada\""
        #expect(Self.users(mock) == [nil, ada, ada, ada])
        // What replaces it counts from then on.
        try mock.session.replace(credentials: .password(user: "eve", password: "pw"))
        _ = try await mock.session.get("x", as: .string)
        #expect(Self.users(mock).suffix(2) == [nil, "Digest username=\"eve\""])
        try mock.session.replace(credentials: nil)
        _ = try await mock.session.get("x", as: .string)
        #expect(Self.users(mock).suffix(2) == [nil, ada])
    }

    @Test func `a password in a URL counts before the session's token`() async throws {
        let mock = try Self.mocked { $0.authentication = .bearer("t") { _ in "t" } }
        _ = try await mock.session.get(url: "http://ada:pw@api.test/x", as: .string)
        _ = try await mock.session.get("x", as: .string)
        #expect(Self.users(mock) == [nil, "Digest username=\"ada\"", "Bearer t"])
    }

    @Test func `a request with credentials of its own gets nothing that the session remembers elsewhere`() async throws
    {
        let mock = try Self.mocked { $0.credentials = .password(user: "eve", password: "pw") }
        mock.transport.on("there", where: { $0.origin.host == "b.test" })
            .respond(302, fields: ["Location": "http://api.test/x"]).always()
        _ = try await mock.session.get("x", as: .string)
        for options in [Self.ada, .init(credentials: .bearer(token: "t"))] {
            let error = try await networkError {
                _ = try await mock.session.get(url: "http://b.test/", options: options, as: .string)
            }
            #expect(error?.response?.status == 401)
        }
        let unasked = mock.transport.requests.dropFirst(2).filter { $0.origin.host == "api.test" }
        #expect(unasked.count == 2 && unasked.allSatisfy { !$0.fields.contains("authorization") })
    }

    @Test func `no password goes with a redirect, and user info in a Location is no password`() async throws {
        let mock = try Self.mocked()
        for options in [Self.ada, .init()] {
            let error = try await networkError {
                _ = try await mock.session.get(url: "http://ada:pw@api.test/away", options: options, as: .string)
            }
            #expect(error?.response?.status == 401)
        }
        let elsewhere = mock.transport.requests.filter { $0.origin.host == "other.test" }
        #expect(elsewhere.count == 2 && elsewhere.allSatisfy { !$0.fields.contains("authorization") })
    }

    @Test func `a password in the URL that a hook puts in a redirect's place answers there`() async throws {
        let mock = try Self.mocked {
            $0.hooks.redirect = { proposal in
                var next = proposal.next
                next.url = "http://ada:pw@other.test/"
                return .modify(next)
            }
        }
        #expect(try await mock.session.get("away", as: .string).value == "in")
        #expect(Self.users(mock) == [nil, nil, "Digest username=\"ada\""])
    }

    @Test(arguments: ["http://ada:pw@api.test/x", "x"])
    func `a password is not sent in clear text unless that is allowed`(url: String) async throws {
        for policy in HTTPSession.BasicInClearText.allCases {
            let mock = try Self.mocked("Basic realm=b") { $0.basicInClearText = policy }
            let options = url == "x" ? Self.ada : .init()
            let error = try await networkError {
                _ = try await mock.session.get(url: url, options: options, as: .string)
            }
            #expect(error?.code == (policy == .allowed ? nil : .clearTextRefused))
            #expect(error.map { !"\($0)".contains("pw") } ?? true)
        }
    }

    @Test(arguments: [
        ("http://api.test", false), ("https://api.test", true), ("http://127.0.0.1:1", true), ("http://[::1]", true),
        ("http://localhost", true), ("http://127.evil.test", false), ("http://127.0.0.1.evil.test", false),
    ])
    func `Basic that goes in clear text unasked is warned of once, or refused`(base: String, isSafe: Bool) async throws
    {
        let basic = HTTP.Credentials.basic(user: "ada", password: "pw")
        for policy in HTTPSession.BasicInClearText.allCases {
            let warnings = Mutex<[HTTPSession.SecurityWarning.Kind]>([])
            let mock = try Mocked(base) {
                $0.basicInClearText = policy
                $0.securityWarningHandler = { warning in warnings.withLock { $0.append(warning.kind) } }
            }
            mock.transport.otherwise { _ in .respond() }
            let options = HTTPSession.Options(credentials: .value(basic))
            let error = try await networkError {
                for _ in 0..<2 { _ = try await mock.session.get("x", options: options) }
            }
            let isRefused = policy == .refused && !isSafe
            #expect(error?.code == (isRefused ? .clearTextRefused : nil))
            #expect(mock.transport.requests.count == (isRefused ? 0 : 2))
            #expect(warnings.withLock { $0 } == (isSafe || isRefused ? [] : [.passwordInClearText]))
            let whole = try await networkError {
                _ = try Mocked(base) { ($0.basicInClearText, $0.credentials) = (policy, basic) }
            }
            #expect(whole?.code == (isRefused ? .clearTextRefused : nil))
        }
    }

    @Test func `passwords of requests are remembered up to a number`() async throws {
        let mock = try Self.mocked()
        for number in 0..<40 {
            let options = HTTPSession.Options(credentials: .password(user: "u\(number)", password: "pw"))
            _ = try await mock.session.get("x", options: options, as: .string)
        }
        for (number, count) in [(39, 1), (0, 2)] {
            let options = HTTPSession.Options(credentials: .password(user: "u\(number)", password: "pw"))
            let before = mock.transport.requests.count
            _ = try await mock.session.get("x", options: options, as: .string)
            #expect(mock.transport.requests.count == before + count)
        }
    }
}
