import Dunlin
import DunlinTesting
import Mocking
import Synchronization
import Testing

@testable import DunlinSession

@Suite(.timeLimit(.minutes(10))) struct `What encloses a caller` {
    private static func next(_ number: Int) async {
        let over = AsyncStream.makeStream(of: Void.self)
        await Enclosure.enter(.request(.next()), of: nil) {
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
        await Enclosure.enter(outer, of: nil) {
            await Enclosure.enter(inner, of: nil) { #expect(Enclosure.subjects == [outer, inner]) }
            #expect(Enclosure.subjects == [outer] && Enclosure.contains(outer))
        }
        #expect(Enclosure.subjects.isEmpty)
    }

    @Test func `code within something of one owner waits only for owners that come later`() async {
        let owners = [Owner.session(), Owner.session(), Owner.session()]
        let downloaders = owners.map(\.ofDownloader)
        /// For which sessions, and for which downloaders.
        func mayWait(by request: HTTPSession.TaskID? = nil) -> [[Bool]] {
            [owners, downloaders].map { $0.map { $0.mayBeAwaited(by: request) } }
        }
        let own = HTTPSession.TaskID.next()
        #expect(mayWait() == [[true, true, true], [true, true, true]])
        await Enclosure.enter(.transfer(of: ObjectIdentifier(Self.self)), of: nil) {
            #expect(mayWait() == [[true, true, true], [true, true, true]])
        }
        await Enclosure.enter(.request(own), of: owners[1]) {
            #expect(mayWait() == [[false, false, true], [false, false, true]])
            // It is not within itself.
            #expect(mayWait(by: own) == [[true, true, true], [true, true, true]])
            await Enclosure.enter(.picture(of: ObjectIdentifier(Self.self), 1), of: downloaders[0]) {
                #expect(mayWait(by: own) == [[true, true, true], [false, true, true]])
                #expect(mayWait() == [[false, false, true], [false, false, true]])
            }
        }
        // A picture's own request, and its filters.
        await Enclosure.enter(.picture(of: ObjectIdentifier(Self.self), 1), of: downloaders[1]) {
            #expect(mayWait() == [[false, true, true], [false, false, true]])
        }
    }

    @Test func `a refresh that others have begun is waited for in a hook, and not in what answers for others`() async {
        let (earlier, owner, later) = (Owner.session(), Owner.session(), Owner.session())
        let some = ObjectIdentifier(Self.self)
        let cases: [(Enclosure.Subject, Owner, Bool)] = [
            (.request(.next()), owner, true), (.interceptor(of: some, .exchange, index: 0), owner, true),
            (.challenge(of: some), owner, false), (.refresh(of: some), owner, false),
            (.refresh(of: some), earlier, true), (.challenge(of: some), earlier, true),
            (.request(.next()), later, false), (.picture(of: some, 1), later, false),
        ]
        #expect(owner.mayBeAwaitedForAnswers)
        for (subject, of, expected) in cases {
            await Enclosure.enter(subject, of: of) {
                #expect(owner.mayBeAwaitedForAnswers == expected, "\(subject)")
            }
        }
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
