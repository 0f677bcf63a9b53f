import Dunlin
import DunlinTesting
import Synchronization
import Testing

@testable import DunlinSession

@Suite struct `What the hook says of a stored response that the server confirms` {
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
