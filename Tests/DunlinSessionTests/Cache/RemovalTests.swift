import Dunlin
import DunlinTesting
import Testing

@testable import DunlinSession

/// What a program removes when its user changes, while a request of the former user is on its way.
@Suite(.timeLimit(.minutes(10))) struct `What is removed while a request is on its way` {
    /// A session whose first answer to `/a` comes when the gate opens.
    private struct Held {
        let transport = MockTransport()
        let session: HTTPSession
        let cache = HTTPSession.Cache(.small)
        let jar = CookieJar()
        private let gate = LoopbackServer.Gate()
        private let arrived = LoopbackServer.Gate()

        init(_ fields: Fields, _ change: (inout HTTPSession.Configuration) -> Void = { _ in }) throws {
            transport.otherwise { [gate, arrived] request in
                guard !arrived.isOpen else { return .respond(fields: fields, body: "new") }
                arrived.open()
                do { try await gate.opened() } catch { return .fail(error) }
                return .respond(fields: fields, body: "former")
            }
            var configuration = HTTPSession.Configuration(baseURL: "http://a.test", transport: transport)
            (configuration.cache, configuration.cookies) = (cache, jar)
            change(&configuration)
            session = try HTTPSession(configuration)
        }

        func get(_ options: HTTPSession.Options = .init()) async throws -> String {
            try await session.get("/a", options: options, as: .string).value
        }

        /// Makes a request, and calls `change` while it is on its way.
        func former(
            _ request: @escaping @Sendable (HTTPSession) async throws -> String, _ change: () async throws -> Void
        ) async throws {
            let task = Task { [session] in try await request(session) }
            try await arrived.opened()
            try await change()
            gate.open()
            #expect(try await task.value == "former")
        }

        func set(_ user: String) throws {
            try jar.set(HTTP.Cookie(name: "sid", value: user, domain: "a.test"))
        }
    }

    @Test(arguments: [true, false])
    func `an answer to the jar's former user sets no cookie, and is not stored for the next`(isKnown: Bool) async throws
    {
        let held = try Held(["Cache-Control": "max-age=60", "Set-Cookie": "sid=ada; Path=/"])
        if isKnown { try held.set("ada") }
        try await held.former {
            try await $0.get("/a", as: .string).value
        } _: {
            held.jar.removeAll()
            try held.set("bob")
        }
        #expect(held.jar.cookies.map(\.value) == ["bob"])
        #expect(try await held.get() == "new")
        #expect(try await held.get(.init(handlesCookies: .value(false))) == "new")
        #expect(held.transport.requests.last?.fields["cookie"] == nil)
    }

    /// What a request that has not ended is sent with once the jar is another user's: her PUT would be done in his
    /// account, and she would get his page.
    @Test(arguments: ["retry", "redirect", "suspended", "events"])
    func `a request of the jar's former user has no cookies of the next`(way: String) async throws {
        let (transport, jar) = (MockTransport(), CookieJar())
        @Sendable func become(_ user: String) throws {
            jar.removeAll()
            try jar.set(HTTP.Cookie(name: "sid", value: user, domain: "a.test"))
        }
        transport.otherwise { request in
            guard transport.requests.count == 1, way != "suspended" else {
                return .respond(
                    fields: ["Set-Cookie": "sid=eve", "Content-Type": "text/event-stream"], body: "data: 1\n\n")
            }
            try become("bob")
            switch way {
            case "retry": return .respond(503)
            case "redirect": return .respond(307, fields: ["Location": "/b"])
            default: return .respond(fields: ["Content-Type": "text/event-stream"], body: "data: 0\nretry: 0\n\n")
            }
        }
        var configuration = HTTPSession.Configuration(baseURL: "http://a.test", transport: transport)
        configuration.cookies = jar
        configuration.retry = .constant(attempts: 2, every: .zero, budget: .unlimited)
        let session = try HTTPSession(configuration)
        try become("ada")
        if way == "events" {
            for try await event in session.events("/a") where event.data == "1" { break }
        } else {
            let task = try session.task("/a", method: .put, body: .bytes("mine"), as: .bytes)
            if way == "suspended" { try become("bob") }
            _ = try await task.value
        }
        let sent = transport.requests.map { $0.fields["Cookie"] }
        #expect(sent == (way == "suspended" ? [nil] : ["sid=ada", nil]))
        #expect(try jar.cookies(for: "http://a.test/").map(\.value) == ["bob"])
        // Whoever asks from now on is the next user.
        _ = try await session.get("/c", as: .bytes)
        #expect(transport.requests.last?.fields["Cookie"] == "sid=bob")
    }

    @Test func `an answer in the background to the jar's former user sets no cookie`() async throws {
        let stage = try CachedStage()
        let (gate, asked, jar) = (LoopbackServer.Gate(), LoopbackServer.Gate(), CookieJar())
        stage.transport.otherwise { request in
            let fields: Fields = [
                "Cache-Control": "max-age=1, stale-while-revalidate=100", "Set-Cookie": "sid=ada; Path=/",
            ]
            guard stage.transport.requests.count > 1 else { return .respond(fields: fields, body: "ada's") }
            asked.open()
            do { try await gate.opened() } catch { return .fail(error) }
            return .respond(fields: fields, body: "ada's")
        }
        var configuration = stage.session.configuration
        configuration.cookies = jar
        let session = try HTTPSession(configuration)
        for _ in 1...2 {
            #expect(try await session.get("/a", as: .string).value == "ada's")
            stage.time.pass(50)
        }
        try await asked.opened()
        jar.removeAll()
        try jar.set(HTTP.Cookie(name: "sid", value: "bob", domain: "a.test"))
        gate.open()
        await session.restart(grace: .seconds(1000))
        #expect(jar.cookies.map(\.value) == ["bob"])
        await session.shutdown()
    }

    enum Removal: CaseIterable {
        case none
        case everything
        case url
        /// Of the jar's cookies.
        case cookies
    }

    private static func remove(_ removal: Removal, _ held: Held) async throws {
        switch removal {
        case .none: break
        case .everything: await held.cache.removeAll()
        case .cookies: held.jar.removeAll()
        case .url: try await held.cache.remove("http://a.test/a")
        }
    }

    @Test(arguments: Removal.allCases)
    func `the answer to a POST that was sent before a removal is not stored`(removal: Removal) async throws {
        let held = try Held(["Cache-Control": "max-age=60", "Content-Location": "/a"])
        try await held.former {
            try await $0.post("/a", as: .string).value
        } _: {
            try await Self.remove(removal, held)
        }
        #expect(try await held.get() == (removal == .none ? "former" : "new"))
    }

    @Test(arguments: Removal.allCases)
    func `a request made after a removal shares no answer with one before it`(removal: Removal) async throws {
        let held = try Held(["Cache-Control": "max-age=60"]) { $0.coalescing.isOn = true }
        var later: Task<String, any Error>?
        try await held.former {
            try await $0.get("/a", as: .string).value
        } _: {
            try await Self.remove(removal, held)
            let task = Task { [session = held.session] in try await session.get("/a", as: .string).value }
            if removal == .none {
                while await held.session.gauges().coalesced == 0 { await Task.yield() }
            } else {
                #expect(try await task.value == "new")
            }
            later = task
        }
        #expect(try await later?.value == (removal == .none ? "former" : "new"))
    }
}
