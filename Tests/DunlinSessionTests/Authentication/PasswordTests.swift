import Dunlin
import DunlinTesting
import LedgerRows
import Mocking
import Synchronization
import Testing

@Suite(.timeLimit(.minutes(10))) struct `A session with a password` {
    private static let digest = """
        Digest realm="r", nonce="n", qop="auth", algorithm=SHA-256, opaque="o"
        """

    private static func scene(
        inClearText: Bool = false, base: String = "http://api.test",
        _ answer: @escaping @Sendable (MockTransport.RecordedRequest) -> MockTransport.Outcome
    ) throws -> Mocked {
        let mock = try Mocked(base) {
            $0.credentials = .password(user: "ada", password: "pw")
            if inClearText { $0.basicInClearText = .allowed }
        }
        mock.transport.otherwise { answer($0) }
        return mock
    }

    private static func asks(_ challenge: String) -> MockTransport.Outcome {
        .respond(401, fields: ["WWW-Authenticate": challenge], body: "who?")
    }

    @Test func `a password for Digest alone is not given to a server that asks for Basic`() async throws {
        let mock = try Mocked("https://api.test") { $0.credentials = .digest(user: "ada", password: "pw") }
        mock.transport.on(.get, "/x").respond(401, fields: ["WWW-Authenticate": "Basic realm=\"r\""])
        let error = try await networkError { try await mock.session.get("x") }
        #expect(error?.code == .authenticationFailed && mock.transport.requests.count == 1)
    }

    @Test(arguments: [true, false])
    func `a request's own password may be for Digest alone`(asksForDigest: Bool) async throws {
        let mock = try Mocked("https://api.test") { $0.credentials = .password(user: "eve", password: "pw") }
        mock.transport.otherwise { request in
            if request.fields["authorization"] != nil { return .respond(body: "in") }
            return Self.asks(asksForDigest ? Self.digest : "Basic realm=\"r\"")
        }
        let options = HTTPSession.Options(credentials: .digest(user: "ada", password: "pw"))
        if asksForDigest {
            #expect(try await mock.session.get("x", options: options, as: .string).value == "in")
            #expect(mock.transport.requests[1].fields["authorization"]?.hasPrefix("Digest username=\"ada\"") == true)
        } else {
            let error = try await networkError { try await mock.session.get("x", options: options) }
            #expect(error?.code == .authenticationFailed && mock.transport.requests.count == 1)
        }
    }

    @Test(.rows("OP-9"), .rules("9110-11.3-4", "9110-11.4-1", "9110-11.4-2", "9110-15.5.2-1"))
    func `nothing is sent before the server asks, and then the strongest answer`() async throws {
        let mock = try Self.scene { request in
            request.fields["authorization"] == nil
                ? Self.asks("Basic realm=\"r\", Digest realm=\"r\", nonce=\"m\", qop=\"auth\", \(Self.digest)")
                : .respond(body: "in")
        }
        #expect(try await mock.session.post("x?a=b", body: .string("all"), as: .string).value == "in")
        let sent = mock.transport.requests
        #expect(sent.count == 2 && sent[0].fields["authorization"] == nil && sent[1].body == "all")
        let answer = try #require(sent[1].fields["authorization"])
        for part in ["Digest username=\"ada\"", "uri=\"/x?a=b\"", "algorithm=SHA-256", "nonce=\"n\"", "nc=00000001"] {
            #expect(answer.contains(part), "\(answer)")
        }
        // From then on unasked, and counted.
        #expect(try await mock.session.get("y", as: .string).value == "in")
        #expect(mock.transport.requests.count == 3)
        #expect(mock.transport.requests[2].fields["authorization"]?.contains("nc=00000002") == true)
        // Nothing of it is known to another session.
        let other = try HTTPSession(mock.session.configuration)
        #expect(try await other.get("z", as: .string).value == "in")
        #expect(mock.transport.requests.count == 5 && mock.transport.requests[3].fields["authorization"] == nil)
    }

    @Test(.rules("9110-15.5.2-2")) func `a stale nonce is answered once more, a wrong password not`() async throws {
        let count = Mutex(0)
        let mock = try Self.scene { request in
            let number = count.withLock { count in
                count += 1
                return count
            }
            return Self.asks(
                Self.digest.replacing("\"n\"", with: "\"n\(number)\"") + (number == 2 ? ", stale=true" : ""))
        }
        let error = try await networkError { _ = try await mock.session.get("x", as: .string) }
        #expect(error?.response?.status == 401)
        #expect(mock.transport.requests.count == 3)
    }

    /// The connection that asked is closed before the answer reaches the server, as devices do.
    @Test(arguments: ["Basic realm=\"r\"", digest])
    func `an answer that is sent again for its connection's sake is no wrong password`(challenge: String) async throws {
        let hasFailed = Mutex(false)
        let mock = try Self.scene(inClearText: true) { request in
            if request.fields["authorization"] == nil { return Self.asks(challenge) }
            return .respond(
                hasFailed.withLock { failed in
                    defer { failed = true }
                    return failed ? 200 : 417
                })
        }
        let options = HTTPSession.Options(expectsContinue: true)
        _ = try await mock.session.post("x", body: .string("b"), options: options, as: .string)
        let answers = mock.transport.requests.map { $0.fields["authorization"] }
        #expect(answers.count == 3 && answers[0] == nil && answers[1] != nil && answers[2] != nil)
        #expect((answers[1] == answers[2]) == challenge.hasPrefix("Basic"))
    }

    /// Each time another realm, as if it were asked for the first time.
    @Test(.rules("9110-15.5.2-2")) func `a server that never stops asking gets no further answer`() async throws {
        let count = Mutex(0)
        let mock = try Self.scene { _ in
            let number = count.withLock { count in
                count += 1
                return count
            }
            return Self.asks(Self.digest.replacing("realm=\"r\"", with: "realm=\"r\(number)\""))
        }
        let error = try await networkError { _ = try await mock.session.get("x", as: .string) }
        #expect(error?.response?.status == 401)
        #expect(mock.transport.requests.count == 4)
    }

    @Test(.rules("9110-17.16.1-1"), arguments: ["http", "https"], [true, false])
    func `a password is not sent in clear text unless that is allowed`(scheme: String, isAllowed: Bool) async throws {
        let mock = try Self.scene(inClearText: isAllowed, base: "\(scheme)://api.test") { request in
            request.fields["authorization"] == nil ? Self.asks("Basic realm=\"r\"") : .respond(body: "in")
        }
        let error = try await networkError { _ = try await mock.session.get("a/x", as: .string) }
        let isSent = isAllowed || scheme == "https"
        #expect(error?.code == (isSent ? nil : .clearTextRefused))
        #expect(mock.transport.requests.count == (isSent ? 2 : 1))
        #expect(mock.transport.requests.last?.fields["authorization"] == (isSent ? "Basic YWRhOnB3" : nil))
        guard isSent else { return }
        // Below the same folder unasked, and elsewhere not.
        _ = try await mock.session.get("a/b/y", as: .string)
        #expect(mock.transport.requests.count == 3)
        _ = try await mock.session.get("z", as: .string)
        #expect(mock.transport.requests.count == 5)
    }

    @Test func `a server that cannot prove that it knows the password is not believed`() async throws {
        let mock = try Self.scene { request in
            request.fields["authorization"] == nil
                ? Self.asks(Self.digest)
                : .respond(fields: ["Authentication-Info": "rspauth=\"\(String(repeating: "0", count: 64))\", qop=auth"]
                )
        }
        let error = try await networkError { _ = try await mock.session.get("x", as: .string) }
        #expect(error?.code == .authenticationFailed)
    }

    @Test(.rules("9110-11.5-2"))
    func `a password stays with its origin, and with requests that have no credentials of their own`()
        async throws
    {
        let mock = try Self.scene { request in
            request.path == "/away" ? .respond(302, fields: ["Location": "http://other.test/"]) : Self.asks(Self.digest)
        }
        for options in [HTTPSession.Options(credentials: .none), .init(fields: ["Authorization": "own"])] {
            _ = try await networkError { _ = try await mock.session.get("x", options: options, as: .string) }
        }
        #expect(mock.transport.requests.count == 2)
        _ = try await networkError { _ = try await mock.session.get("away", as: .string) }
        _ = try await networkError { _ = try await mock.session.get(url: "http://other.test/y", as: .string) }
        let elsewhere = mock.transport.requests.filter { $0.origin.host == "other.test" }
        #expect(elsewhere.count == 2 && elsewhere.allSatisfy { !$0.fields.contains("authorization") })
    }

    @Test func `a body that can be sent once is not lost in silence`() async throws {
        let mock = try Self.scene { _ in Self.asks(Self.digest) }
        let error = try await mock.errorOfBodySentOnce()
        #expect(error?.code == .bodyNotReplayable && error?.response?.status == 401)
    }

    @Test func `challenges that a password does not answer are delivered`() async throws {
        for challenge in ["Bearer realm=\"r\"", "Negotiate abc=", "", "Digest realm=\"r\", nonce=\"n\", algorithm=X"] {
            let mock = try Self.scene { _ in Self.asks(challenge) }
            let error = try await networkError { _ = try await mock.session.get("x", as: .string) }
            #expect(error?.code == .unacceptableStatus && mock.transport.requests.count == 1)
        }
    }
}
