import Dunlin
import DunlinTesting
import Mocking
import Synchronization
import Testing

/// What a challenge handler says holds: for the challenge that it was asked about, and for what is sent unasked.
@Suite(.timeLimit(.minutes(10))) struct `The word of a challenge handler` {
    private typealias Challenge = HTTPSession.AuthenticationChallenge
    private typealias Method = Challenge.ProtectionSpace.Method

    /// A body that cannot be hashed beforehand, which `auth-int` would need.
    private static var streamed: RequestBody {
        .replayable(length: 1) {
            AsyncThrowingStream<Bytes, any Error> { stream in
                stream.yield("x")
                stream.finish()
            }
        }
    }
    private static let unanswerable = "Digest realm=d, nonce=n, qop=auth-int, algorithm=SHA-256"

    private static func method(_ challenge: Challenge) -> Method? {
        guard case .protectionSpace(let space) = challenge.kind else { return nil }
        return space.method
    }

    /// Asks who is not `ada`, and lets her in.
    private static func mocked(
        _ challenges: String, _ change: (inout HTTPSession.Configuration) throws -> Void
    ) throws -> Mocked {
        let mock = try Mocked("https://api.test") {
            $0.credentials = .password(user: "ada", password: "pw")
            try change(&$0)
        }
        mock.transport.otherwise { request in
            request.fields["authorization"] == "Basic YWRhOnB3"
                ? .respond(body: "in") : .respond(401, fields: ["WWW-Authenticate": challenges], body: "who?")
        }
        return mock
    }

    private static func sent(_ mock: Mocked) -> [String?] {
        mock.transport.requests.map { $0.fields["authorization"] }
    }

    /// What it says of Digest and of Basic; whether the password goes out as Basic.
    @Test(arguments: [("dr", false), ("dd", true), ("rd", true), ("rr", false), ("dc", true)])
    func `the default of one challenge answers no other`(words: String, goesOut: Bool) async throws {
        let asked = Mutex<[Method?]>([])
        let mock = try Self.mocked("\(Self.unanswerable), Basic realm=b") {
            $0.authenticationHandler = { challenge in
                let method = Self.method(challenge)
                asked.withLock { $0.append(method) }
                switch Array(words)[method == .digest ? 0 : 1] {
                case "d": return .performDefault
                case "c": return .useCredential(.password(user: "ada", password: "pw"))
                default: return .reject
                }
            }
        }
        let error = try await networkError {
            _ = try await mock.session.post("x", body: Self.streamed, as: .string)
        }
        #expect(Self.sent(mock) == (goesOut ? [nil, "Basic YWRhOnB3"] : [nil]))
        #expect(asked.withLock { $0 } == [.digest, .basic])
        #expect((error == nil) == goesOut && (goesOut || error?.response?.status == 401))
    }

    @Test func `the default of a challenge that no password answers delivers the response`() async throws {
        let mock = try Self.mocked("Basic realm=b, Bearer realm=t") {
            $0.authenticationHandler = { Self.method($0) == .basic ? .reject : .performDefault }
        }
        let error = try await networkError { _ = try await mock.session.get("x", as: .string) }
        #expect(error?.code == .unacceptableStatus && Self.sent(mock) == [nil])
    }

    // MARK: Unasked

    @Test(arguments: ["Basic realm=b", "Digest realm=d, nonce=n, qop=auth, algorithm=SHA-256"])
    func `what got in at one address of a name is not sent unasked to another`(challenge: String) async throws {
        let mock = try Mocked("https://api.test") {
            $0.authenticationHandler = { _ in .useCredential(.password(user: "ada", password: "pw")) }
        }
        mock.transport.otherwise { request in
            request.fields.contains("authorization")
                ? .respond(body: "in") : .respond(401, fields: ["WWW-Authenticate": challenge], body: "who?")
        }
        for address in ["/a", "/a", "/b", "/a"] {
            let options = HTTPSession.Options(hostOverrides: ["api.test": .unix(address)])
            _ = try await mock.session.get("x", options: options, as: .string)
        }
        let isAnswered = mock.transport.requests.map { $0.fields.contains("authorization") }
        #expect(isAnswered == [false, true, true, false, true, true])
    }

    @Test func `a request's own handler is asked before anything goes out that got others in`() async throws {
        let mock = try Self.mocked("Basic realm=b") { _ in }
        #expect(try await mock.session.get("a", as: .string).value == "in")
        #expect(try await mock.session.get("b", as: .string).value == "in")
        let asks = Mutex(0)
        let options = HTTPSession.Options(authenticationHandler: { _ in
            asks.withLock { $0 += 1 }
            return .reject
        })
        let error = try await networkError { _ = try await mock.session.get("c", options: options, as: .string) }
        #expect(error?.response?.status == 401 && asks.withLock { $0 } == 1)
        #expect(Self.sent(mock) == [nil, "Basic YWRhOnB3", "Basic YWRhOnB3", nil])
    }

    @Test func `a request's own handler is asked before what the session's handler let others in with`() async throws {
        let mock = try Self.mocked("Basic realm=b") {
            $0.authentication = nil
            $0.authenticationHandler = { _ in .useCredential(.password(user: "ada", password: "pw")) }
        }
        #expect(try await mock.session.get("a", as: .string).value == "in")
        let options = HTTPSession.Options(authenticationHandler: { _ in .reject })
        let error = try await networkError { _ = try await mock.session.get("b", options: options, as: .string) }
        #expect(error?.response?.status == 401)
        #expect(Self.sent(mock) == [nil, "Basic YWRhOnB3", nil])
    }

    /// By the handler of one request, which agrees; and by a request of the session's handler's own, about which nobody
    /// is asked.
    @Test(arguments: [true, false])
    func `a password that the session's handler was not asked about is not sent unasked`(byRequest: Bool) async throws {
        let session = Mutex<HTTPSession?>(nil)
        let mock = try Self.mocked("Basic realm=b") {
            $0.authenticationHandler = { _ in
                if !byRequest {
                    do { _ = try await session.withLock { $0 }?.get("login", as: .string) } catch {}
                }
                return .reject
            }
        }
        session.withLock { $0 = mock.session }
        defer { session.withLock { $0 = nil } }
        if byRequest {
            let options = HTTPSession.Options(authenticationHandler: { challenge in
                challenge.proposed.map { .useCredential($0) } ?? .reject
            })
            #expect(try await mock.session.get("a", options: options, as: .string).value == "in")
        } else {
            let error = try await networkError { _ = try await mock.session.get("a", as: .string) }
            #expect(error?.response?.status == 401)
            #expect(mock.transport.requests.contains { $0.path == "/login" && $0.fields.contains("authorization") })
        }
        let count = mock.transport.requests.count
        let error = try await networkError { _ = try await mock.session.get("b", as: .string) }
        #expect(error?.response?.status == 401)
        #expect(
            mock.transport.requests.dropFirst(count).allSatisfy {
                $0.path == "/login" || !$0.fields.contains("authorization")
            })
    }
}
