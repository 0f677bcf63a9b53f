import Dunlin
import DunlinSemantics
import DunlinTesting
import Folders
import Foundation
import LedgerRows
import Mocking
import Synchronization
import Testing

@testable import DunlinSession

@Suite(.timeLimit(.minutes(10))) struct `Who asks` {
    typealias Sign = Access.Sign

    private static let alice = Sign.password(user: "alice", password: "pw")
    private static let session = Sign.session(.authenticator, part: "all", "session 1")

    @Test func `a request without any sign is nobody's`() {
        #expect(Access.User(added: [], always: [], hasOwnAuthorization: false) == .nobody)
        #expect(Access.User(added: [Self.alice], always: [], hasOwnAuthorization: true) == .nobody)
    }

    @Test func `an Authorization of the request's own takes the place of what stages add, and of nothing else`() {
        let way = Access.User(added: [], always: [Self.session], hasOwnAuthorization: false)
        #expect(way != .nobody)
        #expect(Access.User(added: [Self.alice], always: [Self.session], hasOwnAuthorization: true) == way)
        #expect(Access.User(added: [Self.alice], always: [Self.session], hasOwnAuthorization: false) != way)
        #expect(Access.User(added: [], always: [.unknown], hasOwnAuthorization: true) == .unknown)
    }

    @Test func `a user who is partly unknown is unknown`() {
        #expect(Access.User(added: [Self.alice, .unknown], always: [], hasOwnAuthorization: false) == .unknown)
        #expect(Access.User(added: [.unknown], always: [Self.alice], hasOwnAuthorization: false) == .unknown)
    }

    private static let different: [[Sign]] = [
        [alice], [.password(user: "alice", password: "pw2")], [.password(user: "alicep", password: "w")],
        [.password(user: "", password: "alicepw")], [alice, alice], [session],
        [.session(.handler, part: "all", "session 1")], [.session(.authenticator, part: "[0]", "session 1")],
        [.session(.authenticator, part: "all", "session 12")], [.certificate(Bytes("a"))], [.certificate(Bytes("b"))],
        [.proxy("http://p:1", user: "alice", password: "pw")], [.proxy("http://p:1", user: "alicep", password: "w")],
        [.proxy("http://p:12", user: "alice", password: "pw")], [alice, session], [session, alice],
        [.password(user: "alice", password: "pw8:password")], [.password(user: "a2;8:p", password: "assword")],
    ]

    @Test func `different users are never equal`() {
        let users = Self.different.map { Access.User(added: $0, always: [], hasOwnAuthorization: false) }
        #expect(Set(users).count == Self.different.count)
    }

    // MARK: - A session's user

    private static let fresh: Fields = ["Cache-Control": "max-age=86400"]

    private func sessions(
        named users: [String?], _ change: @Sendable (inout HTTPSession.Configuration) -> Void
    ) throws -> (MockTransport, [HTTPSession]) {
        let transport = MockTransport()
        let number = Atomic(0)
        transport.otherwise { _ in
            .respond(fields: Self.fresh, body: Bytes("\(number.add(1, ordering: .relaxed).newValue)".utf8))
        }
        let cache = HTTPSession.Cache(MapStore(isAtHand: true))
        let sessions = try users.map { user in
            var configuration = HTTPSession.Configuration(baseURL: "http://a.test", transport: transport)
            (configuration.cache, configuration.userID) = (cache, user)
            change(&configuration)
            return try HTTPSession(configuration)
        }
        return (transport, sessions)
    }

    @Test func `a user without a name is its session's alone, and one with a name is every session's of that name`()
        async throws
    {
        let (_, sessions) = try sessions(named: [nil, nil, "alice", "bob", "alice"]) {
            $0.authentication = .bearer("t") { _ in "t" }
        }
        var bodies: [String] = []
        for session in sessions { bodies.append(try await session.get("/a", as: .string).value) }
        #expect(bodies == ["1", "2", "3", "4", "3"])
    }

    @Test func `a session that is opened again has the same user`() async throws {
        let (transport, sessions) = try sessions(named: [nil]) { $0.authentication = .bearer("t") { _ in "t" } }
        for _ in 1...2 {
            #expect(try await sessions[0].get("/a", as: .string).value == "1")
            await sessions[0].restart()
        }
        #expect(transport.requests.count == 1)
    }

    @Test(.rules("9110-17.16.2-1")) func `once passwords are forgotten a handler may say another user`() async throws {
        let (_, sessions) = try sessions(named: [nil]) { $0.authenticationHandler = { _ in .reject } }
        #expect(try await sessions[0].get("/a", as: .string).value == "1")
        #expect(try await sessions[0].get("/a", as: .string).value == "1")
        sessions[0].forgetPasswords()
        #expect(try await sessions[0].get("/a", as: .string).value == "2")
    }

    @Test func `what a server says is for others is for every user`() async throws {
        let transport = MockTransport()
        transport.on(.get, "/a").respond(fields: ["Cache-Control": "public, max-age=86400"], body: "all")
        let cache = HTTPSession.Cache(MapStore(isAtHand: true))
        for token in ["a", "b"] {
            var configuration = HTTPSession.Configuration(baseURL: "http://a.test", transport: transport)
            (configuration.cache, configuration.credentials) = (cache, .bearer(token: token))
            configuration.originFields = ["X-Api-Key": token]
            #expect(try await HTTPSession(configuration).get("/a", as: .string).value == "all")
        }
    }

    @Test func `a folder keeps nobody's name, and knows the user again after a restart`() async throws {
        let (folder, transport) = (Folder.unmade(), MockTransport())
        let number = Atomic(0)
        transport.otherwise { _ in
            .respond(fields: Self.fresh, body: Bytes("\(number.add(1, ordering: .relaxed).newValue)".utf8))
        }
        func get(_ user: String) async throws -> String {
            let cache = HTTPSession.Cache(folder: folder.path)
            var configuration = HTTPSession.Configuration(baseURL: "http://a.test", transport: transport)
            configuration.cache = cache
            configuration.fields["X-Api-Key"] = "the app's"
            configuration.credentials = .password(user: user, password: "pass of \(user)")
            try configuration.use(ManualClock())
            let body = try await HTTPSession(configuration).get("/a", as: .string).value
            await cache.close()
            return body
        }
        for _ in 1...2 {
            #expect(try await get("alice") == "1")
            #expect(try await get("bob") == "2")
        }
        for name in try FileManager.default.contentsOfDirectory(atPath: folder.path) {
            let bytes = try Data(contentsOf: URL(filePath: folder.path + "/" + name))
            for secret in ["alice", "the app's"] { #expect(bytes.firstRange(of: Data(secret.utf8)) == nil) }
        }
    }
}
