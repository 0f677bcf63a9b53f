import Dunlin
import FoundationEssentials
import LedgerRows
import Testing

@testable import DunlinContent

@Suite struct `Rules for responses` {
    @Test(
        .rows("RS-5"), .rules("9110-8.3-2"),
        arguments: [
            ("text/*", "text/html", true), ("text/*", "application/json", false), ("*/json", "text/json", true),
            ("*/*", "a/b", true), ("*/*", "nonsense", false), ("+json", "application/ld+json; v=1", true),
            ("+json", "application/json", false), ("application/*+json", "application/a+json", true),
            ("application/*+json", "text/a+json", false), ("a/b", "A/B;c", true), ("a/b", "a/bc", false),
            ("A/B", "a/b", true), ("a/b", "", false), ("", "a/b", false), ("a/b", " a/b", true),
        ])
    func `a content type is matched by patterns, whatever its case and parameters`(
        pattern: String, field: String, isMatch: Bool
    ) {
        #expect(HTTP.ContentTypes([pattern]).contains(field) == isMatch)
    }

    @Test func `the union of status sets contains the statuses of both`() {
        let set = HTTP.StatusSet(200...299).union([300, 404, 250])
        #expect(set.ranges == [200...300, 404...404])
        #expect([199, 301, 403, 405].allSatisfy { !set.contains(HTTP.Status($0)) })
        #expect([200, 300, 404].allSatisfy { set.contains(HTTP.Status($0)) })
        #expect(HTTP.StatusSet.any.contains(999))
        #expect(!HTTP.StatusSet.none.contains(200))
        #expect(HTTP.StatusSet.any.union(.success) == .any)
    }

    @Test(.rows("RS-13", "RS-31", "CO-9", "CO-11", "VD-16"))
    func `stored rules are read back the same`() throws {
        let rules = HTTP.ResponseRules(statuses: [200, 404], contentTypes: ["text/*", "+json"])
        let stored = try JSONEncoder().encode(rules)
        #expect(try JSONDecoder().decode(HTTP.ResponseRules.self, from: stored) == rules)
        let broken = Data(String(decoding: stored, as: UTF8.self).replacing("404,404", with: "404,3").utf8)
        #expect(throws: DecodingError.self) { try JSONDecoder().decode(HTTP.ResponseRules.self, from: broken) }
        let strict = HTTP.ResponseRules(requiresContentType: true)
        #expect(try JSONDecoder().decode(HTTP.ResponseRules.self, from: JSONEncoder().encode(strict)) == strict)
        #expect(try JSONDecoder().decode(HTTP.ResponseRules.self, from: Data("{}".utf8)).statuses == nil)
    }

    @Test(.rows("RS-3")) func `rules without statuses and types accept any response`() throws {
        let rules = HTTP.ResponseRules(statuses: nil)
        try rules.check(Replies.made("x", 500, type: "text/html"))
    }
}

@Suite struct `A refused response` {
    private struct Problem: Codable, Equatable {
        var title: String
    }

    @Test(.rows("HS-14", "RS-22", "RS-53"))
    func `the body of a refused response can be decoded from its error`() throws {
        let body: Bytes = "{\"title\":\"gone\"}"
        let refused = Replies.made(body, 410, type: "application/problem+json")
        let failure = try #require(Replies.failure { try JSONSerializer(String.self).validate(refused) })
        #expect(try failure.body(as: Problem.self) == Problem(title: "gone"))
        #expect(try failure.body(as: .string) == String(body))
        #expect(throws: DecodingError.self) { try failure.body(as: [Int].self) }
    }

    @Test func `reading the body of an error without a response throws that error`() {
        let failure = Replies.failure { _ = try NetworkError(.timedOut, "too slow").body(as: .string) }
        #expect(failure?.code == .timedOut)
    }
}
