import Dunlin
import Testing
@testable import DunlinContent

@Suite struct `A response without content` {
    private struct Point: Codable, Equatable {
        var x: Int
    }

    @Test(arguments: [("", 200), ("", 204), ("", 205), (" ", 200)] as [(Bytes, Status)])
    func `is nil for an optional and nothing for who wants nothing`(body: Bytes, status: Status) throws {
        let response = Replies.made(body, status)
        #expect(try JSONSerializer(Point?.self).serialize(response) == nil)
        #expect(try JSONSerializer(NoContent.self).serialize(response) == NoContent())
        NothingSerializer().serialize(response)
        #expect(BytesSerializer().serialize(response) == body)
        #expect(try StringSerializer().serialize(response) == String(body))
    }

    @Test func `is nil of a property list too, and empty text`() throws {
        #expect(try PropertyListSerializer(Point?.self).serialize(Replies.made("", 204)) == nil)
        #expect(try StringSerializer().serialize(Replies.made("", 204)) == "")
    }

    @Test func `is an error that says so for what cannot be nothing`() {
        let failures = [
            Replies.failure { _ = try JSONSerializer(Point.self).serialize(Replies.made("", 204)) },
            Replies.failure { _ = try PropertyListSerializer(Point.self).serialize(Replies.made("", 204)) },
        ]
        for failure in failures {
            #expect(failure?.code == .noContent)
            #expect(
                failure?.reason
                    == "the response has no content to make a Point of; ask for an optional if it may have none")
            #expect(failure?.response?.status == 204)
        }
    }

    @Test(arguments: ["  ", "\n", "\t "])
    func `is not what has more than one space`(body: String) {
        #expect(throws: DecodingError.self) { try JSONSerializer(Point?.self).serialize(Replies.made(Bytes(body))) }
    }

    @Test func `does not matter to who wants nothing of one that has some`() throws {
        #expect(try JSONSerializer(NoContent.self).serialize(Replies.made()) == NoContent())
        #expect(try JSONSerializer(Point?.self).serialize(Replies.made("null")) == nil)
    }
}
