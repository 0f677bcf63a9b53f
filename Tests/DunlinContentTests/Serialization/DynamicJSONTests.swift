import Dunlin
import LedgerRows
import Testing

@testable import DunlinContent

@Suite struct `JSON of unknown form` {
    private static let serializer = DynamicValue.JSONSerializer()

    @Test(.rows("RS-30")) func `dynamic JSON keeps the digits of its numbers and the order of its members`() throws {
        let value = try Self.serializer.serialize(Replies.made("{\"b\":1.10,\"a\":12345678901234567890123}"))
        #expect(value.members?.map(\.key) == ["b", "a"])
        #expect(value["b"]?.number?.description == "1.10")
        #expect(value["a"]?.number?.description == "12345678901234567890123")
        #expect(String(try value.json()) == "{\"b\":1.10,\"a\":12345678901234567890123}")
    }

    @Test(.rows("RS-25"), arguments: ["1", "\"a\"", "true", "null"])
    func `dynamic JSON must be an object or an array unless fragments are allowed`(text: String) throws {
        let response = Replies.made(Bytes(text))
        let failure = #expect(throws: HTTP.JSON.SyntaxError.self) { try Self.serializer.serialize(response) }
        #expect(failure?.problem == .fragment)
        _ = try DynamicValue.JSONSerializer(allowsFragments: true).serialize(response)
    }

    @Test(.rows("RS-26", "VD-10")) func `nulls are removed at every level of dynamic JSON if that is asked for`() throws
    {
        let response = Replies.made("{\"a\":null,\"b\":[null,1,{\"c\":null,\"d\":[null]}]}")
        let value = try DynamicValue.JSONSerializer(removesNulls: true).serialize(response)
        #expect(value == ["b": [1, ["d": []]]])
        #expect(try Self.serializer.serialize(response)["a"] == .null)
    }

    @Test(
        .rows("RS-29", "LX-4"),
        arguments: [
            "[1,]", "{\"a\":1,}", "{\"a\":1,\"a\":2}", "[{\"b\":[{\"a\":1,\"a\":2}]}]", "[01]", "[1] x", "[\"\u{1}\"]",
        ])
    func `dynamic JSON is read strictly, and so is a type if that is asked for`(text: String) {
        let response = Replies.made(Bytes(text))
        #expect(throws: HTTP.JSON.SyntaxError.self) { try Self.serializer.serialize(response) }
        let error = #expect(throws: DecodingError.self) {
            try JSONSerializer(DynamicValue.self).strict.serialize(response)
        }
        guard case .dataCorrupted(let context) = error else { return #expect(Bool(false), "\(error as Any)") }
        #expect(context.underlyingError is HTTP.JSON.SyntaxError)
    }

    @Test(arguments: ["", " "] as [Bytes])
    func `an empty body is read as null`(body: Bytes) throws {
        #expect(try Self.serializer.serialize(Replies.made(body, 204)) == .null)
    }

    @Test func `dynamic JSON can be in UTF-8, UTF-16 or UTF-32`() throws {
        for (bytes, name) in CharsetSamples.unicode("[\"ä😀\"]") {
            #expect(try Self.serializer.serialize(Replies.made(bytes)) == ["ä😀"], "\(name)")
        }
        #expect(throws: HTTP.JSON.SyntaxError.self) {
            try Self.serializer.serialize(Replies.made([0xFF, 0xFE, 0x5B]))
        }
    }

    @Test(arguments: [(512, true), (513, false), (1_000_000, false)])
    func `dynamic JSON can be nested 512 levels deep and no deeper`(depth: Int, isTaken: Bool) {
        let text = String(repeating: "[", count: depth) + String(repeating: "]", count: depth)
        let response = Replies.made(Bytes(text))
        if isTaken {
            #expect(throws: Never.self) { try Self.serializer.serialize(response) }
        } else {
            #expect(throws: HTTP.JSON.SyntaxError.self) { try Self.serializer.serialize(response) }
        }
    }
}
