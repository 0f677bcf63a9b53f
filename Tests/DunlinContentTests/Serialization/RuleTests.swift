import Dunlin
import FoundationEssentials
import Testing
@testable import DunlinContent

@Suite struct `Rules for responses` {
    @Test(
        arguments: [
            ("text/*", "text/html", true), ("text/*", "application/json", false), ("*/json", "text/json", true),
            ("*/*", "a/b", true), ("*/*", "nonsense", false), ("+json", "application/ld+json; v=1", true),
            ("+json", "application/json", false), ("application/*+json", "application/a+json", true),
            ("application/*+json", "text/a+json", false), ("a/b", "A/B;c", true), ("a/b", "a/bc", false),
            ("A/B", "a/b", true), ("a/b", "", false), ("", "a/b", false), ("a/b", " a/b", true),
        ])
    func `match types by patterns`(pattern: String, field: String, isMatch: Bool) {
        #expect(HTTP.ContentTypes([pattern]).contains(field) == isMatch)
    }

    @Test func `unite statuses`() {
        let set = HTTP.StatusSet(200...299).union([300, 404, 250])
        #expect(set.ranges == [200...300, 404...404])
        #expect([199, 301, 403, 405].allSatisfy { !set.contains(Status($0)) })
        #expect([200, 300, 404].allSatisfy { set.contains(Status($0)) })
        #expect(HTTP.StatusSet.any.contains(999))
        #expect(!HTTP.StatusSet.none.contains(200))
        #expect(HTTP.StatusSet.any.union(.success) == .any)
    }

    @Test func `come back the same from what they are stored as`() throws {
        let rules = HTTP.ResponseRules(statuses: [200, 404], contentTypes: ["text/*", "+json"])
        let stored = try JSONEncoder().encode(rules)
        #expect(try JSONDecoder().decode(HTTP.ResponseRules.self, from: stored) == rules)
        let broken = Data(String(decoding: stored, as: UTF8.self).replacing("404,404", with: "404,3").utf8)
        #expect(throws: DecodingError.self) { try JSONDecoder().decode(HTTP.ResponseRules.self, from: broken) }
        let strict = HTTP.ResponseRules(requiresContentType: true)
        #expect(try JSONDecoder().decode(HTTP.ResponseRules.self, from: JSONEncoder().encode(strict)) == strict)
        #expect(try JSONDecoder().decode(HTTP.ResponseRules.self, from: Data("{}".utf8)).statuses == nil)
    }

    @Test func `that are nil take anything`() throws {
        let rules = HTTP.ResponseRules(statuses: nil)
        try rules.check(Replies.made("x", 500, type: "text/html"))
    }
}

@Suite struct `A refused response` {
    private struct Problem: Codable, Equatable {
        var title: String
    }

    @Test func `is read from its error when somebody wants to know what it says`() throws {
        let body: Bytes = "{\"title\":\"gone\"}"
        let refused = Replies.made(body, 410, type: "application/problem+json")
        let failure = try #require(Replies.failure { try JSONSerializer(String.self).validate(refused) })
        #expect(try failure.body(as: Problem.self) == Problem(title: "gone"))
        #expect(try failure.body(as: .string) == String(body))
        #expect(throws: DecodingError.self) { try failure.body(as: [Int].self) }
    }

    @Test func `that never came throws what happened instead`() {
        let failure = Replies.failure { _ = try NetworkError(.timedOut, "too slow").body(as: .string) }
        #expect(failure?.code == .timedOut)
    }
}
