import Dunlin
import DunlinSecure
import DunlinTesting
import DunlinTypes
import Mocking
import Testing

/// Digest of the quality `auth-int`, whose answers have a hash of the whole body.
@Suite(.timeLimit(.minutes(10))) struct `Digest over a body` {
    private static let challenge = "Digest realm=\"d\", nonce=\"n\", qop=\"auth-int\", algorithm=MD5"

    private static func hash(_ text: String) throws -> String { try HashFunction.md5.hash(of: Bytes(text)).hex }

    /// Whether this answers the challenge for the body with this hash (RFC 7616 §3.4).
    private static func isAnswer(_ authorization: String?, _ bodyHash: String) -> Bool {
        guard let authorization else { return false }
        var parameters: [String: String] = [:]
        for part in authorization.dropFirst("Digest ".count).split(separator: ", ") {
            let pair = part.replacing("\"", with: "").split(separator: "=", maxSplits: 1).map(String.init)
            if pair.count == 2 { parameters[pair[0]] = pair[1] }
        }
        do {
            let (user, request) = (try hash("ada:d:pw"), try hash("PUT:/a:\(bodyHash)"))
            let (count, nonce) = (parameters["nc"] ?? "", parameters["cnonce"] ?? "")
            return try parameters["response"] == hash("\(user):n:\(count):\(nonce):auth-int:\(request)")
        } catch {
            return false
        }
    }

    /// Lets in who answers for this body.
    private static func mocked(
        _ body: Bytes, _ change: (inout HTTPSession.Configuration) throws -> Void = { _ in }
    ) throws -> Mocked {
        let bodyHash = try HashFunction.md5.hash(of: body).hex
        let mock = try Mocked {
            $0.credentials = .password(user: "ada", password: "pw")
            try change(&$0)
        }
        mock.transport.otherwise { request in
            request.method == .get || isAnswer(request.fields["authorization"], bodyHash)
                ? .respond(body: "in") : .respond(401, fields: ["WWW-Authenticate": challenge], body: "who?")
        }
        return mock
    }

    private static func puts(_ mock: Mocked) -> Int { mock.transport.requests.count { $0.method == .put } }

    @Test(arguments: [0, 10, 256 << 10, (256 << 10) + 1, (3 << 20) + 1])
    func `a body of any length is answered for, asked and unasked`(count: Int) async throws {
        let body = Bytes([UInt8](repeating: 3, count: count))
        let mock = try Self.mocked(body)
        for _ in 1...2 { #expect(try await mock.session.put("a", body: .bytes(body), as: .string).value == "in") }
        #expect(Self.puts(mock) == 3)
    }

    /// The loop is reached in less time than the hash takes. On a busy machine others may have the processor meanwhile,
    /// so one try of several has to show it.
    @Test func `while a long body is hashed others on its loop go on`() async throws {
        let body = Bytes([UInt8](repeating: 7, count: 128 << 20))
        var attempts: [String] = []
        repeat {
            let begun = ContinuousClock.now
            let mock = try Self.mocked(body) { $0.use(try PrivateLoop.single()) }
            let hashing = begun.duration(to: .now)
            async let long = mock.session.put("a", body: .bytes(body), as: .string).value
            try await eventually("the server asks") { Self.puts(mock) >= 1 }
            var longest: Duration?
            while Self.puts(mock) == 1 {
                let asked = ContinuousClock.now
                let reached = try await mock.session.onEventLoop { ContinuousClock.now }
                longest = max(longest ?? .zero, asked.duration(to: reached))
            }
            #expect(try await long == "in")
            await mock.session.shutdown()
            if let longest, longest < hashing / 2 { return }
            attempts.append("\(longest, default: "not asked in time") of \(hashing)")
        } while attempts.count < 10
        Issue.record("the loop stood still: \(attempts)")
    }

    /// On a busy machine the hash may be made before the cancel comes, so one try of several has to show it.
    @Test func `a request cancelled while a long body is hashed does not wait for that`() async throws {
        let body = Bytes([UInt8](repeating: 7, count: 64 << 20))
        for _ in 1...20 {
            let mock = try Self.mocked(body)
            let task = try mock.session.task("a", method: .put, body: .bytes(body), as: .string)
            task.resume()
            try await eventually("the server asks") { Self.puts(mock) >= 1 }
            task.cancel()
            let error = try await networkError { _ = try await task.value }
            await mock.session.shutdown()
            if let error { #expect(error.code == .cancelled) }
            if error != nil, Self.puts(mock) == 1 { return }
        }
        Issue.record("whoever was cancelled waited for the hash")
    }
}
