import Dunlin
import Testing
@testable import DunlinContent

@Suite struct `JSON of unknown form` {
    private static let serializer = DynamicJSONSerializer()

    @Test func `keeps the digits of its numbers and the order of its members`() throws {
        let value = try Self.serializer.serialize(Replies.made("{\"b\":1.10,\"a\":12345678901234567890123}"))
        #expect(value.members?.map(\.key) == ["b", "a"])
        #expect(value["b"]?.number?.description == "1.10")
        #expect(value["a"]?.number?.description == "12345678901234567890123")
        #expect(String(try value.json()) == "{\"b\":1.10,\"a\":12345678901234567890123}")
    }

    @Test(arguments: ["1", "\"a\"", "true", "null"])
    func `is an object or an array, or anything where that is allowed`(text: String) throws {
        let response = Replies.made(Bytes(text))
        let failure = #expect(throws: JSONSyntaxError.self) { try Self.serializer.serialize(response) }
        #expect(failure?.problem == .fragment)
        _ = try DynamicJSONSerializer(allowsFragments: true).serialize(response)
    }

    @Test func `loses its nulls at every level where it is to`() throws {
        let response = Replies.made("{\"a\":null,\"b\":[null,1,{\"c\":null,\"d\":[null]}]}")
        let value = try DynamicJSONSerializer(removesNulls: true).serialize(response)
        #expect(value == ["b": [1, ["d": []]]])
        #expect(try Self.serializer.serialize(response)["a"] == .null)
    }

    @Test(arguments: [
        "[1,]", "{\"a\":1,}", "{\"a\":1,\"a\":2}", "[{\"b\":[{\"a\":1,\"a\":2}]}]", "[01]", "[1] x", "[\"\u{1}\"]",
    ])
    func `is read by the letter, also for a type where that is asked for`(text: String) {
        let response = Replies.made(Bytes(text))
        #expect(throws: JSONSyntaxError.self) { try Self.serializer.serialize(response) }
        #expect(throws: JSONSyntaxError.self) { try JSONSerializer(DynamicValue.self).strict.serialize(response) }
    }

    @Test(arguments: ["", " "] as [Bytes])
    func `is null when there is none`(body: Bytes) throws {
        #expect(try Self.serializer.serialize(Replies.made(body, 204)) == .null)
    }

    @Test func `may be in any form of Unicode`() throws {
        for (bytes, name) in CharsetSamples.unicode("[\"ä😀\"]") {
            #expect(try Self.serializer.serialize(Replies.made(bytes)) == ["ä😀"], "\(name)")
        }
        #expect(throws: JSONSyntaxError.self) { try Self.serializer.serialize(Replies.made([0xFF, 0xFE, 0x5B])) }
    }

    @Test(arguments: [(512, true), (513, false), (1_000_000, false)])
    func `may be nested so deep and no deeper`(depth: Int, isTaken: Bool) {
        let text = String(repeating: "[", count: depth) + String(repeating: "]", count: depth)
        let response = Replies.made(Bytes(text))
        if isTaken {
            #expect(throws: Never.self) { try Self.serializer.serialize(response) }
        } else {
            #expect(throws: JSONSyntaxError.self) { try Self.serializer.serialize(response) }
        }
    }
}
