import Dunlin
import DunlinTesting
import Testing

@testable import DunlinSession

/// A request is its user's from the moment when it is made, whatever the session's user becomes meanwhile.
@Suite(.timeLimit(.minutes(10))) struct `The user of a request that is under way` {
    private static let (alice, bob) = ("Basic YWxpY2U6cHc=", "Basic Ym9iOnB3")

    /// Says with which credentials it was asked, and asks for them. The first question waits for `gate`.
    private static func server(_ seen: Settlement<Void>, _ gate: Settlement<Void>) -> MockTransport {
        let transport = MockTransport()
        transport.otherwise { request in
            if let value = request.fields["authorization"] {
                return .respond(fields: ["Cache-Control": "max-age=86400"], body: Bytes(value.utf8))
            }
            seen.settle(())
            await gate.value
            let realm = request.path.hasPrefix("/other") ? "other" : "r"
            return .respond(401, fields: ["WWW-Authenticate": "Basic realm=\(realm)"])
        }
        return transport
    }

    private static func configuration(
        _ user: String?, _ transport: MockTransport, _ cache: HTTPSession.Cache
    ) -> HTTPSession.Configuration {
        var configuration = HTTPSession.Configuration(baseURL: "http://a.test", transport: transport)
        configuration.basicInClearText = .allowed
        configuration.cache = cache
        configuration.credentials = user.map { .password(user: $0, password: "pw") }
        return configuration
    }

    @Test(arguments: [HTTP.Method.get, .post])
    func `a request has the password of the moment when it was made`(method: HTTP.Method) async throws {
        let (seen, gate, cache) = (Settlement<Void>(), Settlement<Void>(), HTTPSession.Cache())
        let transport = Self.server(seen, gate)
        let session = try HTTPSession(Self.configuration("alice", transport, cache))
        async let answer = session.request("/me", method: method, as: .string).value
        await seen.value
        try session.replace(credentials: .password(user: "bob", password: "pw"))
        gate.settle(())
        #expect(try await answer == Self.alice)
        #expect(try await session.get("/me", as: .string).value == Self.bob)
        let again = try HTTPSession(Self.configuration("alice", transport, cache))
        #expect(try await again.get("/me", as: .string).value == Self.alice)
        await again.shutdown()
        await session.shutdown()
    }

    @Test(arguments: [true, false])
    func `credentials given after passwords were forgotten are kept for no earlier request`(
        hasChanged: Bool
    ) async throws {
        let (seen, gate, cache) = (Settlement<Void>(), Settlement<Void>(), HTTPSession.Cache())
        var configuration = Self.configuration(nil, Self.server(seen, gate), cache)
        configuration.authenticationHandler = { _ in .useCredential(.password(user: "bob", password: "pw")) }
        let session = try HTTPSession(configuration)
        async let answer = session.get("/me", as: .string).value
        await seen.value
        if hasChanged { session.forgetPasswords() }
        gate.settle(())
        #expect(try await answer == Self.bob)
        #expect(await cache.entries().count == (hasChanged ? 0 : 1))
        await session.shutdown()
    }

    @Test func `what a handler requests itself is not for those whom nobody asked about`() async throws {
        let (gate, cache) = (Settlement<Void>(), HTTPSession.Cache())
        gate.settle(())
        let transport = Self.server(Settlement(), gate)
        let own = Settlement<HTTPSession>()
        var configuration = Self.configuration(nil, transport, cache)
        configuration.authenticationHandler = { challenge in
            guard case .protectionSpace(let space) = challenge.kind, space.realm == "other" else {
                return .useCredential(.password(user: "alice", password: "pw"))
            }
            do {
                let vault = try await own.value.get("/s/vault", as: .string).value
                #expect(vault == Self.alice)
            } catch {
                Issue.record(error)
            }
            return .useCredential(.password(user: "bob", password: "pw"))
        }
        let session = try HTTPSession(configuration)
        own.settle(session)
        #expect(try await session.get("/s/a", as: .string).value == Self.alice)
        #expect(try await session.get("/other/x", as: .string).value == Self.bob)
        let nobody = try HTTPSession(Self.configuration(nil, transport, cache))
        let error = await #expect(throws: NetworkError.self) { try await nobody.get("/s/vault", as: .string) }
        #expect(error?.response?.status == 401)
        await nobody.shutdown()
        await session.shutdown()
    }
}
