import Dunlin
import DunlinCache
import DunlinSemantics
import DunlinTesting
import Folders
import Synchronization
import Testing

@testable import DunlinSession

@Suite(.timeLimit(.minutes(10))) struct `What the hook says of a stored response that the server confirms` {
    enum Decision: CaseIterable {
        case none
        case store
        case skip
        case storeAsPrivate
        case storeAsVarying
        case storeForNobody
    }

    private static let validated: Fields = ["Cache-Control": "private, max-age=1", "ETag": "\"1\""]
    private static let shared: Fields = ["Cache-Control": "public, max-age=600", "ETag": "\"1\""]

    /// A stage whose hook decides about everything that is public.
    private static func stage(_ decision: Decision, _ asked: Asked) throws -> CachedStage {
        try CachedStage {
            $0.hooks.storing = { _, head in
                asked.note(head)
                guard head.fields["cache-control"]?.contains("public") == true else { return nil }
                var fields = head.fields
                switch decision {
                case .none: return nil
                case .store: return .store
                case .skip: return .skip
                case .storeAsPrivate: fields["Cache-Control"] = "private, max-age=600"
                case .storeAsVarying: fields["Vary"] = "Accept"
                case .storeForNobody: fields["Cache-Control"] = "no-store"
                }
                return .storeWith(fields)
            }
        }
    }

    private final class Asked: Sendable {
        private let heads = Mutex<[ResponseHead]>([])
        var statuses: [HTTP.Status] { heads.withLock { $0.map(\.status) } }
        var tags: [String?] { heads.withLock { $0.map { $0.fields["etag"] } } }
        func note(_ head: ResponseHead) { heads.withLock { $0.append(head) } }
    }

    private static func get(_ stage: CachedStage, _ user: String, _ fields: Fields = Fields()) async throws -> String {
        let options = HTTPSession.Options(
            fields: fields, credentials: .value(.basic(user: user, password: "x")))
        return try await stage.session.get("/a", options: options, as: .string).value
    }

    @Test(arguments: Decision.allCases, [HTTP.Method.get, .head])
    func `it keeps a page that becomes public from other users`(decision: Decision, method: HTTP.Method) async throws {
        let asked = Asked()
        let stage = try Self.stage(decision, asked)
        stage.transport.on(.get, "/a").respond(fields: Self.validated, body: "ada's")
        #expect(try await Self.get(stage, "ada") == "ada's")
        stage.time.pass(5)
        if method == .head {
            let length: Fields = ["Content-Length": "5"]
            stage.transport.on(.head, "/a").respond(fields: Self.shared.overlaid(with: length), body: "")
            let options = HTTPSession.Options(credentials: .value(.basic(user: "ada", password: "x")))
            _ = try await stage.session.head("/a", options: options)
        } else {
            stage.transport.on(.get, "/a").respond(304, fields: Self.shared)
            #expect(try await Self.get(stage, "ada") == "ada's")
        }
        #expect(asked.statuses == [200, 200] && asked.tags == ["\"1\"", "\"1\""])
        stage.transport.on(.get, "/a").respond(fields: Self.validated, body: "bob's").always()
        let isServed = decision == .none || decision == .store
        #expect(try await Self.get(stage, "bob") == (isServed || decision == .storeAsVarying ? "ada's" : "bob's"))
        #expect(try await Self.get(stage, "eve", ["Accept": "text/html"]) == (isServed ? "ada's" : "bob's"))
        let isKept = decision != .skip && decision != .storeForNobody
        #expect(try await Self.get(stage, "ada") == (isKept ? "ada's" : "bob's"))
    }

    @Test func `it decides about a revalidation in the background`() async throws {
        let asked = Asked()
        let stage = try Self.stage(.skip, asked)
        let fields: Fields = ["Cache-Control": "private, max-age=1, stale-while-revalidate=100", "ETag": "\"1\""]
        stage.transport.on(.get, "/a").respond(fields: fields, body: "ada's").thenRespond(304, fields: Self.shared)
            .thenRespond(fields: Self.validated, body: "bob's")
        #expect(try await Self.get(stage, "ada") == "ada's")
        stage.time.pass(5)
        #expect(try await Self.get(stage, "ada") == "ada's")
        await stage.session.restart(grace: .seconds(1000))
        #expect(asked.statuses == [200, 200])
        #expect(try await Self.get(stage, "bob") == "bob's")
    }

    @Test func `what the hook says meanwhile is for the user who asked`() async throws {
        let jar = CookieJar()
        func set(_ user: String) throws { try jar.set(HTTP.Cookie(name: "sid", value: user, domain: "a.test")) }
        try set("ada")
        let stage = try CachedStage {
            $0.cookies = jar
            $0.hooks.storing = { _, head in
                if head.fields["etag"] != nil {
                    jar.removeAll()
                    do { try jar.set(HTTP.Cookie(name: "sid", value: "bob", domain: "a.test")) } catch { return .skip }
                }
                return .storeWith(["Cache-Control": "max-age=60"])
            }
        }
        stage.transport.on(.get, "/a").respond(fields: ["ETag": "\"1\"", "Set-Cookie": "x=1"], body: "ada's")
            .thenRespond(fields: ["Cache-Control": "max-age=60"], body: "other").always()
        #expect(try await stage.get().value == "ada's" && jar.cookies.map(\.value) == ["bob"])
        #expect(try await stage.get().value == "other")
        let plain = HTTPSession.Options(handlesCookies: .value(false))
        #expect(try await stage.session.get("/a", options: plain, as: .string).value == "other")
    }

    @Test func `the hook's fields for a confirmed response are stored as those of a new one`() async throws {
        let stage = try CachedStage {
            $0.hooks.storing = { _, head in
                var fields = head.fields
                for (name, value) in [("Content-Length", "2"), ("Connection", "X-A"), ("X-A", "1"), ("X-B", "2")] {
                    fields[name] = value
                }
                fields.remove("date")
                return head.fields["cache-control"] == "max-age=2" ? .storeWith(fields) : nil
            }
        }
        let fields: Fields = ["Cache-Control": "max-age=2", "ETag": "\"1\""]
        stage.transport.on(.get, "/a")
            .respond(
                fields: ["Cache-Control": "max-age=1", "ETag": "\"1\"", "Content-Length": "4"], body: "body"
            )
            .thenRespond(304, fields: fields)
        #expect(try await stage.get().value == "body")
        stage.time.pass(5)
        #expect(try await stage.get().value == "body")
        let stored = try #require(stage.store.all.first?.entry.fields)
        #expect(stored["x-b"] == "2" && stored.contains("date") && stored["content-length"] == "4")
        #expect(!stored.contains("connection") && !stored.contains("x-a"))
    }

    @Test func `a confirmed response that is skipped is delivered from its file`() async throws {
        let (transport, folder, body) = (MockTransport(), try Folder(), Bytes(Array(repeating: 0x61, count: 500_000)))
        let cache = HTTPSession.Cache(.standard, folder: folder.path)
        transport.on(.get, "/a").respond(fields: ["Cache-Control": "max-age=0", "ETag": "\"1\""], body: body)
            .thenRespond(304, fields: ["ETag": "\"1\""])
        let skips = Mutex(false)
        let session = try HTTPSession(baseURL: "http://a.test") {
            ($0.transport, $0.cache) = (transport, cache)
            $0.hooks.storing = { _, _ in skips.withLock(\.self) ? .skip : nil }
        }
        #expect(try await session.get("/a", as: .bytes).value == body)
        await cache.waitUntilWritten()
        skips.withLock { $0 = true }
        #expect(try await session.get("/a", as: .bytes).value == body && transport.requests.count == 2)
        transport.on(.get, "/a").respond(body: "new")
        #expect(try await session.get("/a", as: .string).value == "new")
        await session.shutdown()
    }

    @Test func `it is not asked about a response that is only doubted`() async throws {
        let asked = Asked()
        let stage = try Self.stage(.skip, asked)
        stage.transport.on(.get, "/a").respond(fields: Self.validated, body: "ada's")
        stage.transport.on(.head, "/a").respond(fields: ["ETag": "\"2\"", "Cache-Control": "public"])
        #expect(try await Self.get(stage, "ada") == "ada's")
        let options = HTTPSession.Options(credentials: .value(.basic(user: "ada", password: "x")))
        _ = try await stage.session.head("/a", options: options)
        #expect(asked.statuses == [200] && stage.store.all.count == 1)
    }
}
