import Dunlin
import Testing
@testable import DunlinContent

@Suite struct `Several serializers` {
    private enum Reply: Equatable, Sendable {
        case point(Int)
        case text(String)
        case nothing
    }

    private struct Point: Codable {
        var x: Int
    }

    private static let compound = CompoundSerializer<Reply>([
        JSONSerializer(Point?.self).map { $0.map { .point($0.x) } ?? .nothing },
        StringSerializer(rules: HTTP.ResponseRules(contentTypes: ["text/*"])).map { .text($0) },
    ])

    @Test(
        arguments: [
            ("{\"x\":1}", "application/json", .point(1)), ("{\"x\":1}", nil, .point(1)),
            ("hello", "text/plain", .text("hello")), ("hello", nil, .text("hello")),
            ("", "application/json", .nothing), ("", "text/plain", .nothing), ("{\"x\":1}", "text/json", .point(1)),
            ("{}", "text/json", .text("{}")),
        ] as [(Bytes, String?, Reply)])
    private func `leave it to the first that can make a value`(body: Bytes, type: String?, expected: Reply) throws {
        #expect(try Self.compound.serialize(Replies.made(body, type: type)) == expected)
    }

    @Test func `say what each found when none can`() {
        let failure = Replies.failure { _ = try Self.compound.serialize(Replies.made("{}", type: "image/png")) }
        #expect(failure?.code == .unacceptableContentType)
        #expect(failure?.reason.contains("expected one of application/json") == true)
        #expect(failure?.reason.contains("expected one of text/*") == true)
    }

    @Test func `have rules of their own about the status`() throws {
        let refused = Replies.made("{\"x\":1}", 500, type: "application/json")
        #expect(Replies.failure { try Self.compound.validate(refused) }?.code == .unacceptableStatus)
        #expect(try Self.compound.serialize(refused) == .point(1))
        #expect(Self.compound.accept == "application/json")
    }
}
