import Dunlin
import DunlinTesting
import Mocking
import Synchronization
import Testing

@testable import DunlinSession

@Suite(.timeLimit(.minutes(10))) struct `Observers of a session` {
    private let observer = RecordingObserver()

    private func mocked(
        _ observer: RecordingObserver? = nil, _ change: (inout HTTPSession.Configuration) -> Void = { _ in }
    ) throws -> Mocked {
        try Mocked { configuration in
            configuration.observers = [observer ?? self.observer]
            change(&configuration)
        }
    }

    @Test func `a request and its exchange begin and end once`() async throws {
        let mocked = try mocked()
        mocked.transport.on(.get, "/users/42").respond(body: "hello")
        let value = try await RecordingObserver.$mark.withValue("caller") {
            try await mocked.session.get("users/\(42)", as: .string).value
        }
        #expect(value == "hello")
        let request = try #require(observer.requests.first)
        #expect(observer.isBalanced && observer.requests.count == 1)
        #expect(request.mark == "caller")
        #expect(request.begun.targetTemplate == "users/{}" && request.begun.hasTemplate)
        #expect(request.bodies == ["complete"])
        #expect(request.exchanges[0].begun.head.target == "/users/42")
        #expect(request.exchanges[0].begun.number == 1 && request.exchanges[0].begun.attempt == 1)
        #expect(request.exchanges[0].heads[0].status == .ok)
        #expect(request.ends[0].response?.status == .ok && request.ends[0].task.state == .over)
    }

    @Test(arguments: [false, true])
    func `a redirect that is refused is the failure of its exchange, whether its body came or comes`(
        isStreamed: Bool
    ) async throws {
        let mocked = try Mocked("https://api.test") {
            ($0.observers, $0.redirects.allowsHTTPSToHTTP) = ([observer], true)
        }
        let pinned = SecurityPolicy(mode: .publicKey, pins: [try .init(`Security policy`.key)])
        try mocked.session.replace(tls: HTTPSession.TLS(policy: pinned))
        for (path, location) in [("/a", "/a"), ("/b", "http://api.test/"), ("/c", "/d")] {
            let (route, fields): (_, Fields) = (mocked.transport.on(.get, path), ["Location": location])
            route.reply(
                isStreamed ? .stream(["a"], status: 302, fields: fields) : .respond(302, fields: fields, body: "a"))
        }
        mocked.transport.on(.get, "/d").respond(body: "no JSON")
        for path in ["a", "b"] { _ = try? await mocked.session.get(HTTP.Target(path)) }
        _ = try? await mocked.session.get("c", as: .json(Int.self))
        let ends = observer.requests.map { $0.exchanges.map { ($0.ends[0].error as? NetworkError)?.code } }
        #expect(ends == [[.redirectLoop], [.clearTextRefused], [nil, nil]])
        #expect(observer.isBalanced)
    }

    @Test func `the exchange of a 304 ends with it, however long what was stored is read`() async throws {
        let mocked = try mocked { $0.cache = HTTPSession.Cache() }
        let fields: Fields = ["ETag": "\"1\"", "Cache-Control": "no-cache"]
        mocked.transport.on(.get, "/a").respond(fields: fields, body: "hello").thenRespond(304, fields: fields)
        try await mocked.session.get("a")
        try await mocked.session.withResponse(from: "a") { response in
            #expect(observer.requests[1].bodies == ["complete"])
            for try await piece in response.body { #expect(piece == "hello") }
        }
        #expect(observer.isBalanced)
    }

    @Test func `a target made from text has no template`() async throws {
        let (mocked, text) = (try mocked(), "users/42")
        mocked.transport.otherwise { _ in .respond() }
        try await mocked.session.get(HTTP.Target(text))
        try await mocked.session.get("users/42")
        try await mocked.session.get(HTTP.Target(template: "users/{id}", ["id": 42]))
        #expect(observer.requests.map(\.begun.hasTemplate) == [false, true, true])
    }

    @Test func `each redirect, retry and answer to a challenge is an exchange`() async throws {
        let mocked = try mocked {
            $0.retry = .constant(attempts: 3, every: .milliseconds(1))
            $0.credentials = .password(user: "u", password: "p")
            $0.basicInClearText = .allowed
        }
        mocked.transport.on(.get, "/a").respond(302, fields: ["Location": "http://other.test/b"])
        mocked.transport.on(.get, "/a").respond(302, fields: ["Location": "http://other.test/b"])
        mocked.transport.on(.get, "/b").respond(503).thenRespond(body: "there")
        mocked.transport.on(.get, "/c").respond(401, fields: ["WWW-Authenticate": "Basic realm=\"x\""]).thenRespond()
        #expect(try await mocked.session.get("a", as: .string).value == "there")
        try await mocked.session.get("c")
        #expect(observer.isBalanced)
        let (moved, challenged) = (observer.requests[0], observer.requests[1])
        #expect(moved.exchanges.map(\.begun.isElsewhere) == [false, true, false, true])
        #expect(moved.exchanges.map(\.begun.attempt) == [1, 1, 2, 2])
        #expect(moved.exchanges.map(\.begun.number) == [1, 2, 3, 4])
        #expect(moved.stepNames == ["redirected", "retrying", "redirected"])
        #expect(challenged.exchanges.map { $0.heads.first?.status } == [401, 200])
        #expect(challenged.stepNames == ["sendingAgain"])
    }

    @Test func `a request that is cancelled ends once, wherever it is`() async throws {
        let mocked = try mocked()
        mocked.transport.on(.get, "/never").never()
        mocked.transport.on(.get, "/slow").reply(.stream(["a"], length: 5))
        let task = Task { try await mocked.session.get("never") }
        try await mocked.transport.waitForRequests(1)
        task.cancel()
        _ = await task.result
        let handle = try mocked.session.task("unbegun")
        handle.cancel()
        _ = await handle.result
        #expect(observer.isBalanced)
        #expect(observer.requests.map(\.bodies) == [["none"], []])
        #expect(observer.requests[0].exchanges[0].ends[0].error != nil)
        #expect(observer.requests[1].begun.state == .suspended)
    }

    @Test func `a streamed exchange ends after its body, read or left`() async throws {
        let mocked = try mocked()
        mocked.transport.otherwise { _ in .stream(["a", "b", "c"]) }
        try await mocked.session.withResponse(from: "read") { response in
            #expect(observer.requests[0].exchanges[0].heads.count == 1)
            #expect(observer.requests[0].exchanges[0].ends.isEmpty)
            for try await _ in response.body {}
        }
        try await mocked.session.withResponse(from: "left") { _ in }
        do {
            var response: HTTPSession.StreamedResponse? = try await mocked.session.stream("dropped")
            #expect(response?.status == .ok)
            response = nil
        }
        await mocked.session.shutdown()
        #expect(observer.isBalanced)
        #expect(observer.requests.map(\.bodies) == [["complete"], ["left"], ["left"]])
    }

    @Test func `interceptors that send again, throw or answer themselves are parts of one exchange`() async throws {
        let mocked = try mocked {
            $0.interceptors = [
                .exchange { request, next in
                    if request.head.target == "/own" { return TransportResponse(head: ResponseHead(status: 204)) }
                    let first = try await next(request)
                    if request.head.target == "/fail" { throw CancellationError() }
                    return first.head.status == 500 ? try await next(request) : first
                }
            ]
        }
        mocked.transport.on(.get, "/twice").reply(.stream(["x"])).always()
        mocked.transport.on(.get, "/again").respond(500).thenRespond(body: "b")
        mocked.transport.on(.get, "/fail").reply(.stream(["x"])).always()
        for target in ["twice", "again", "own", "fail"] { _ = try? await mocked.session.get(HTTP.Target(target)) }
        #expect(observer.isBalanced)
        #expect(observer.requests.map(\.bodies) == [["complete"], ["complete"], ["complete"], ["none"]])
        #expect(observer.requests[1].exchanges[0].heads[0].status == .ok)
    }

    @Test func `each sending of an interceptor around the call is an exchange`() async throws {
        let mocked = try mocked {
            $0.interceptors = [
                .call { request, next in
                    _ = try await next(request)
                    return try await next(request)
                }
            ]
        }
        mocked.transport.otherwise { _ in .stream(["a", "b"]) }
        try await mocked.session.get("a")
        try await mocked.session.withResponse(from: "b") { _ in }
        #expect(observer.isBalanced)
        #expect(observer.requests.map(\.bodies) == [["complete", "complete"], ["left", "left"]])
    }

    @Test func `an exchange whose response such an interceptor drops ends before the next begins`() async throws {
        let observer = RecordingObserver()
        let ends = Mutex<[[Int]]>([])
        let mocked = try mocked(observer) {
            $0.interceptors = [
                .call { request, next in
                    _ = try await next(request)
                    return try await next(request)
                }
            ]
        }
        mocked.transport.otherwise { _ in
            ends.withLock { $0.append(observer.requests[0].exchanges.map(\.ends.count)) }
            return .stream(["a", "b"])
        }
        try await mocked.session.withResponse(from: "a") { _ in }
        #expect(ends.withLock { $0 } == [[0], [1, 0]])
        #expect(observer.isBalanced)
    }

    @Test func `a suspended request and one that waits for its turn say so`() async throws {
        let mocked = try mocked { $0.queue.running = 1 }
        // It must not be over before it is suspended.
        mocked.transport.otherwise { _ in .respond().delayed(.milliseconds(100)) }
        let handle = try mocked.session.task("a")
        handle.resume()
        handle.suspend()
        handle.resume()
        _ = await handle.result
        #expect(observer.isBalanced)
        let names = observer.requests[0].stepNames
        #expect(names.filter { $0.hasSuffix("e d") || $0.hasSuffix("ed") }.count == names.count)
        #expect(names.filter { $0 == "resumed" }.count == 2 && names.contains("suspended"))
        #expect(names.contains("queued") && names.contains("admitted"))
    }

    @Test func `an observer without interest costs a request nothing more`() async throws {
        struct Nobody: HTTPSession.Observer {}
        let mocked = try Mocked { $0.observers = [Nobody()] }
        mocked.transport.otherwise { _ in .respond(body: "x") }
        let call = try mocked.session.core.call(.get, "a", options: .init(), isObserved: true)
        #expect(TaskDelegate(call).observation == nil)
        #expect(try await mocked.session.get("a", as: .string).value == "x")
    }

    @Test func `an observer that is not watching costs a request nothing, until it watches again`() async throws {
        final class Switch: HTTPSession.Observer {
            let isOn = Atomic(false)
            let begun = Atomic(0)
            var isWatching: Bool { isOn.load(ordering: .relaxed) }

            func began(_ request: HTTPSession.TaskSnapshot) -> (any HTTPSession.RequestObserver)? {
                begun.add(1, ordering: .relaxed)
                return nil
            }
        }
        let observer = Switch()
        let mocked = try Mocked { $0.observers = [observer] }
        mocked.transport.otherwise { _ in .respond() }
        #expect(!mocked.session.core.isObserved(.init()))
        try await mocked.session.get("a")
        #expect(observer.begun.load(ordering: .relaxed) == 0)
        observer.isOn.store(true, ordering: .relaxed)
        try await mocked.session.get("b")
        #expect(observer.begun.load(ordering: .relaxed) == 1)
    }

    @Test func `without observers a request has nothing of them`() throws {
        let mocked = try Mocked()
        #expect(!mocked.session.core.hub.hasObservers)
        let call = try mocked.session.core.call(.get, "a", options: .init(), isObserved: false)
        #expect(call.observers == nil && TaskDelegate(call).observation == nil)
    }

    @Test func `a request that a shutdown overtakes ends too`() async throws {
        let mocked = try mocked()
        mocked.transport.on(.get, "/never").never()
        let task = Task { try await mocked.session.get("never") }
        try await mocked.transport.waitForRequests(1)
        await mocked.session.shutdown(grace: .zero)
        await #expect(throws: NetworkError.self) { try await task.value }
        // It is refused before it is made.
        await #expect(throws: NetworkError.self) { try await mocked.session.get("late") }
        #expect(observer.isBalanced && observer.requests.count == 1)
    }
}
