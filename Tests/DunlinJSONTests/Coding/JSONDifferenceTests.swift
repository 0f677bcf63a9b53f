import Dunlin
import FoundationEssentials
import Testing

/// Where Dunlin reads JSON otherwise than Foundation, on purpose: a row each. The article about JSON has the same rows.
@Suite struct `Differences from Foundation in JSON` {
    struct Difference: Sendable, CustomTestStringConvertible {
        let name: String
        let ours: @Sendable () -> Reading
        let theirs: @Sendable () -> Reading
        let isRefused: Bool
        var testDescription: String { name }

        /// `isRefused` tells whether it is Dunlin that refuses.
        init<Value: Decodable & SendableMetatype>(
            _ name: String, _ type: Value.Type, _ text: String, isRefused: Bool, _ json: HTTP.JSON = .standard,
            _ decoder: @escaping @Sendable () -> JSONDecoder = { JSONDecoder() }
        ) {
            self.name = name
            self.isRefused = isRefused
            ours = { Reading { try json.decode(type, from: Bytes(text)) } }
            theirs = { Reading { try decoder().decode(type, from: Data(text.utf8)) } }
        }
    }

    private struct Holder: Decodable { var a: Int }

    private static let iso: @Sendable () -> JSONDecoder = {
        let decoder = JSONDecoder()
        decoder.dateDecodingStrategy = .iso8601
        return decoder
    }

    static let refused: [Difference] = [
        Difference("a comma before a closing bracket", [Int].self, "[1,]", isRefused: true),
        Difference(
            "a whole type of a number that is not whole and long", Int.self, "9760034902475074.338", isRefused: true),
        Difference("a whole type of a number that is almost zero", Int.self, "1e-400", isRefused: true),
        Difference("Base64 with bits that belong to no byte", Data.self, "\"AAB=\"", isRefused: true),
        Difference("a day that no calendar has", Date.self, "\"2024-02-30T12:00:00Z\"", isRefused: true, .iso8601, iso),
        Difference("the hour 24", Date.self, "\"2024-05-01T24:00:00Z\"", isRefused: true, .iso8601, iso),
        Difference("text after a date", Date.self, "\"2024-05-01T12:00:00Zx\"", isRefused: true, .iso8601, iso),
        Difference(
            "a date whose numbers lack a zero", Date.self, "\"2024-5-1T12:00:00Z\"", isRefused: true, .iso8601, iso),
    ]

    static let taken: [Difference] = [
        Difference("a large whole number with an exponent", Int128.self, "1e30", isRefused: false),
        Difference("the largest whole number with a point", Int64.self, "9223372036854775807.0", isRefused: false),
    ]

    @Test(arguments: refused + taken)
    func `each of these texts is accepted by Dunlin or by Foundation, not by both`(difference: Difference) {
        let ours = difference.ours().description.hasPrefix("corrupted")
        let theirs = difference.theirs().description.hasPrefix("corrupted")
        #expect(ours == difference.isRefused && theirs != ours)
    }

    @Test func `of members with equal names the last counts, not the first`() throws {
        let text = #"{"a":1,"a":2}"#
        #expect(try HTTP.JSON.standard.decode(Holder.self, from: Bytes(text)).a == 2)
        #expect(try JSONDecoder().decode(Holder.self, from: Data(text.utf8)).a == 1)
    }

    @Test func `names are compared by their bytes, not as characters`() throws {
        let text = "{\"e\u{301}\":1,\"\u{e9}\":2}"
        #expect(try HTTP.JSON.standard.decode([String: Int].self, from: Bytes(text)).count == 1)
        #expect(throws: Never.self) { try HTTP.JSON.strict.decode(DynamicValue.self, from: Bytes(text)) }
        #expect(try HTTP.JSON.strict.decode(DynamicValue.self, from: Bytes(text)).members?.count == 2)
    }

    @Test func `names that become equal when converted count as repeated`() throws {
        struct Named: Decodable { var firstName: Int }
        let text: Bytes = #"{"first_name":1,"firstName":2}"#
        #expect(try HTTP.JSON.snakeCase.decode(Named.self, from: text).firstName == 2)
        #expect(throws: DecodingError.self) { try HTTP.JSON.snakeCase.strict.decode(Named.self, from: text) }
    }

    @Test func `a member is found by the bytes of its name`() {
        struct Named: Decodable { var é: Int }
        #expect(throws: DecodingError.self) {
            try HTTP.JSON.standard.decode(Named.self, from: Bytes("{\"e\u{301}\":1}"))
        }
    }

    @Test func `an invalid number is refused as a Decimal too, and a year of five digits as a date`() throws {
        #expect(throws: EncodingError.self) { try HTTP.JSON.standard.encode(Decimal.nan) }
        #expect(throws: EncodingError.self) { try HTTP.JSON.iso8601.encode(Date(timeIntervalSince1970: 1e12)) }
        var exact = HTTP.JSON()
        exact.dates = .iso8601WithFractions
        let last = Date(timeIntervalSince1970: 253_402_300_799.998)
        #expect(try exact.encode(last) == #""9999-12-31T23:59:59.998Z""#)
        #expect(throws: EncodingError.self) { try exact.encode(last.addingTimeInterval(0.0018)) }
    }

    @Test func `a number that does not fit is refused with the path to it`() {
        let text = #"{"a":1e99}"#
        #expect(
            Reading { try HTTP.JSON.standard.decode(Holder.self, from: Bytes(text)) }.description == "corrupted [a]")
        #expect(Reading { try JSONDecoder().decode(Holder.self, from: Data(text.utf8)) }.description == "corrupted []")
    }

    @Test func `dynamic values keep their digits and the order of their members`() throws {
        let text = #"{"b":1.10,"a":12345678901234567890123}"#
        #expect(String(try HTTP.JSON.standard.decode(DynamicValue.self, from: Bytes(text)).json()) == text)
        #expect(String(try HTTP.JSON.standard.encode(["x": DynamicValue(json: Bytes(text))])) == "{\"x\":\(text)}")
    }

    @Test func `members are written in the order in which a type encodes them`() throws {
        struct Pair: Encodable { var zebra = 1, apple = 2 }
        #expect(String(try HTTP.JSON.standard.encode(Pair())) == #"{"zebra":1,"apple":2}"#)
    }
}
