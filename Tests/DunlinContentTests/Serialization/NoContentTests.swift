import Dunlin
import LedgerRows
import Testing

@testable import DunlinContent

@Suite struct `A response without content` {
    private struct Point: Codable, Equatable {
        var x: Int
    }

    @Test(
        .rows("HS-25", "RS-6", "RS-23"),
        arguments: [("", 200), ("", 204), ("", 205), (" ", 200)] as [(Bytes, HTTP.Status)])
    func `a response without content is read as nil for an optional type or as no content`(
        body: Bytes, status: HTTP.Status
    )
        throws
    {
        let response = Replies.made(body, status)
        #expect(try JSONSerializer(Point?.self).serialize(response) == nil)
        #expect(try JSONSerializer(NoContent.self).serialize(response) == NoContent())
        VoidSerializer().serialize(response)
        #expect(BytesSerializer().serialize(response) == body)
        #expect(try StringSerializer().serialize(response) == String(body))
    }

    @Test(.rows("RS-43")) func `an empty body is nil for an optional property list and empty as text`() throws {
        #expect(try PropertyListSerializer(Point?.self).serialize(Replies.made("", 204)) == nil)
        #expect(try StringSerializer().serialize(Replies.made("", 204)) == "")
    }

    @Test(.rows("RS-6")) func `a response without content fails with code noContent for a type that needs some`() {
        let failures = [
            Replies.failure { _ = try JSONSerializer(Point.self).serialize(Replies.made("", 204)) },
            Replies.failure { _ = try PropertyListSerializer(Point.self).serialize(Replies.made("", 204)) },
        ]
        for failure in failures {
            #expect(failure?.code == .noContent)
            #expect(
                failure?.reason
                    == "the response has no content to decode a Point from; use an optional if it may be empty")
            #expect(failure?.response?.status == 204)
        }
    }

    @Test(.rows("RS-23"), arguments: ["  ", "\n", "\t "])
    func `a body of more than one space, or of another blank, is not taken as empty`(body: String) {
        #expect(throws: DecodingError.self) { try JSONSerializer(Point?.self).serialize(Replies.made(Bytes(body))) }
    }

    @Test func `a serializer of no content accepts a body, and an optional type accepts null`() throws {
        #expect(try JSONSerializer(NoContent.self).serialize(Replies.made()) == NoContent())
        #expect(try JSONSerializer(Point?.self).serialize(Replies.made("null")) == nil)
    }
}
