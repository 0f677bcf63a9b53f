import Dunlin
import DunlinTesting
import Mocking
import Synchronization
import Testing

@testable import DunlinSession

@Suite struct `What encloses a caller` {
    private static func next(_ number: Int) async {
        let over = AsyncStream.makeStream(of: Void.self)
        await Enclosure.enter(.request(.next())) {
            #expect(Enclosure.subjects.count == 1)
            Task {
                // Until the one that it was begun in is over.
                for await _ in over.stream {}
                #expect(Enclosure.subjects.isEmpty)
                if number > 0 { await next(number - 1) }
                ended.withLock { $0 += 1 }
            }
        }
        over.continuation.finish()
    }

    private static let ended = Mutex(0)

    /// Each begins the next by a task of its own, as a program does that asks again and again.
    @Test func `an enclosing request is forgotten once it is over`() async throws {
        // Each waits several times for its turn, behind all that other tests do meanwhile.
        await Self.next(20)
        try await eventually("the last one's end") { Self.ended.withLock { $0 } == 21 }
    }

    @Test func `a caller's enclosure lists every request that is under way around it`() async {
        let (outer, inner) = (Enclosure.Subject.request(.next()), Enclosure.Subject.request(.next()))
        await Enclosure.enter(outer) {
            await Enclosure.enter(inner) { #expect(Enclosure.subjects == [outer, inner]) }
            #expect(Enclosure.subjects == [outer] && Enclosure.contains(outer))
        }
        #expect(Enclosure.subjects.isEmpty)
    }

    /// Requests of one level must never wait for each other.
    @Test func `a request's level says how deep it is, and whether a refresh or a handler asks`() async {
        final class Session {}
        let (session, outer, own) = (ObjectIdentifier(Session()), HTTPSession.TaskID.next(), HTTPSession.TaskID.next())
        #expect(Enclosure.level() == 0)
        await Enclosure.enter(.request(outer)) {
            #expect(Enclosure.level() == 1)
            // Its own enclosure does not count, nor do those whose code is not waited for as such.
            await Enclosure.enter(.picture(of: session, 1)) {
                await Enclosure.enter(.request(own)) { #expect(Enclosure.level(of: own) == 1) }
            }
            await Enclosure.enter(.interceptor(of: session, .call, index: 0)) { #expect(Enclosure.level() == 2) }
            await Enclosure.enter(.challenge(of: session)) { #expect(Enclosure.level() == 10) }
            await Enclosure.enter(.refresh(of: session)) {
                #expect(Enclosure.level() == 18)
                await Enclosure.enter(.challenge(of: session)) { #expect(Enclosure.level() == 27) }
            }
        }
        #expect(await Self.level(within: 20) == 8)
    }

    private static func level(within count: Int) async -> Int {
        if count == 0 { return Enclosure.level() }
        return await Enclosure.enter(.request(.next())) { await level(within: count - 1) }
    }

    @Test func `what an interceptor has a task of its own send does not come to those that wait for it`() async throws {
        let asked = Mutex(0)
        let own = Mutex<HTTPSession?>(nil)
        let mock = try Mocked("https://api.test") {
            $0.interceptors = [
                .call { request, next in
                    asked.withLock { $0 += 1 }
                    _ = try await next.session?.get("/token", as: .bytes)
                    return try await next(request)
                },
                .call { request, next in try await Task.detached { try await next(request) }.value },
            ]
            // It runs beneath the second interceptor, and asks in turn.
            $0.authenticationHandler = { _ in
                do { _ = try await own.withLock { $0 }?.get("/secret", as: .bytes) } catch { return .cancel(error) }
                return .useCredential(.password(user: "ann", password: "pw"))
            }
        }
        own.withLock { $0 = mock.session }
        mock.transport.otherwise { request in
            let isIn = request.path == "/secret" || request.fields.contains("authorization")
            return isIn ? .respond(body: "in") : .respond(401, fields: ["WWW-Authenticate": "Basic realm=\"r\""])
        }
        _ = try await mock.session.get("/a", as: .bytes)
        #expect(asked.withLock { $0 } == 1)
    }
}
