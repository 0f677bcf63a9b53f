import Dunlin
import FoundationEssentials
import LedgerRows
import Testing

@testable import DunlinContent

@Suite struct `Stored serializers` {
    private struct Point: Codable, Equatable {
        var x: Int
    }

    private static let rules = HTTP.ResponseRules(statuses: [200, 404], contentTypes: ["text/*", "+json"])

    private func copied<Value: Codable>(_ value: Value) throws -> Value {
        try JSONDecoder().decode(Value.self, from: JSONEncoder().encode(value))
    }

    private func expectSame<Value: Codable & Equatable>(_ values: Value...) throws {
        for value in values { #expect(try copied(value) == value) }
    }

    @Test(.rows("CO-6", "CO-7", "CO-8", "VD-16"))
    func `a stored serializer is read back the same, unless it has a decoder of its own`() throws {
        try expectSame(BytesSerializer(), BytesSerializer().with(rules: Self.rules))
        try expectSame(VoidSerializer(), VoidSerializer(rules: Self.rules))
        try expectSame(StringSerializer(), StringSerializer(assuming: "latin1", rules: Self.rules))
        try expectSame(
            DynamicValue.JSONSerializer(),
            DynamicValue.JSONSerializer(allowsFragments: true, removesNulls: true, rules: Self.rules)
        )
        for rules in [Self.rules, .json] {
            var serializer = JSONSerializer(Point.self, rules: rules).strict
            serializer.honorsCharset = rules == Self.rules
            let copy = try copied(serializer)
            #expect(copy.rules == rules && copy.isStrict && copy.honorsCharset == serializer.honorsCharset)
            #expect(try copied(PropertyListSerializer(Point.self, rules: rules)).rules == rules)
        }
        #expect(throws: EncodingError.self) { try JSONEncoder().encode(JSONSerializer(Point.self).decoding { _ in }) }
        #expect(throws: EncodingError.self) {
            try JSONEncoder().encode(PropertyListSerializer(Point.self) { PropertyListDecoder() })
        }
    }

    @Test func `a serializer that was stored and read back works like the original`() throws {
        let json = try copied(JSONSerializer(Point.self, rules: Self.rules).strict)
        let taken = Replies.made("{\"x\":1}", 404, type: "application/problem+json")
        try json.validate(taken)
        #expect(try json.serialize(taken) == Point(x: 1))
        #expect(throws: NetworkError.self) { try json.validate(Replies.made(type: "image/png")) }
        #expect(throws: DecodingError.self) { try json.serialize(Replies.made("{\"x\":1,}")) }
        let text = try copied(StringSerializer(assuming: "latin1"))
        #expect(try text.serialize(Replies.made(Bytes([0xE9]))) == "é")
        #expect(try copied(BytesSerializer()).own == nil)
    }

    @Test(arguments: ["{}", "[]", #"{"rules":{"statuses":[[9,1]]},"isStrict":true,"honorsCharset":true}"#])
    func `stored data that describes no serializer is refused`(text: String) {
        #expect(throws: DecodingError.self) {
            try JSONDecoder().decode(JSONSerializer<Point>.self, from: Data(text.utf8))
        }
        #expect(throws: DecodingError.self) { try JSONDecoder().decode(BytesSerializer.self, from: Data(text.utf8)) }
    }
}
