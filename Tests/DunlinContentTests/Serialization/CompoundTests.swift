import Dunlin
import LedgerRows
import Testing

@testable import DunlinContent

@Suite struct `Several serializers` {
    private enum Reply: Equatable, Sendable {
        case point(Int)
        case text(String)
        case nothing
    }

    private struct Point: Codable, Equatable {
        var x: Int
    }

    private static let compound = FirstMatchSerializer<Reply>([
        JSONSerializer(Point?.self).map { $0.map { .point($0.x) } ?? .nothing },
        StringSerializer(rules: HTTP.ResponseRules(contentTypes: ["text/*"])).map { .text($0) },
    ])

    @Test(
        .rows("RS-52", "RS-54"),
        arguments: [
            ("{\"x\":1}", "application/json", .point(1)), ("{\"x\":1}", nil, .point(1)),
            ("hello", "text/plain", .text("hello")), ("hello", nil, .text("hello")),
            ("", "application/json", .nothing), ("", "text/plain", .nothing), ("{\"x\":1}", "text/json", .point(1)),
            ("{}", "text/json", .text("{}")),
        ] as [(Bytes, String?, Reply)])
    private func `the first serializer that can make a value makes it`(body: Bytes, type: String?, expected: Reply)
        throws
    {
        #expect(try Self.compound.serialize(Replies.made(body, type: type)) == expected)
    }

    @Test(.rows("RS-52")) func `nil is a value, and what a serializer does not take is the next one's`() throws {
        let serializer: FirstMatchSerializer<Point?> = .first(
            of: JSONSerializer(Point?.self),
            StringSerializer(rules: HTTP.ResponseRules(contentTypes: ["text/*"])).map { Point(x: $0.utf8.count) })
        #expect(try serializer.serialize(Replies.made("", type: "application/json")) == nil)
        #expect(try serializer.serialize(Replies.made("{\"x\":1}", type: "application/json"))?.x == 1)
        #expect(try serializer.serialize(Replies.made("{\"x\":1}", type: "text/plain"))?.x == 7)
        #expect(Replies.failure { _ = try serializer.serialize(Replies.made("1", type: "image/png")) } != nil)
    }

    @Test(.rows("RS-52")) func `an error lists what each serializer expected when none can make a value`() {
        let failure = Replies.failure { _ = try Self.compound.serialize(Replies.made("{}", type: "image/png")) }
        #expect(failure?.code == .unacceptableContentType)
        #expect(failure?.reason.contains("expected one of application/json") == true)
        #expect(failure?.reason.contains("expected one of text/*") == true)
    }

    @Test(.rows("RS-53")) func `a compound serializer checks the status by its own rules`() throws {
        let refused = Replies.made("{\"x\":1}", 500, type: "application/json")
        #expect(Replies.failure { try Self.compound.validate(refused) }?.code == .unacceptableStatus)
        #expect(try Self.compound.serialize(refused) == .point(1))
        #expect(Self.compound.accept == "application/json")
    }
}
