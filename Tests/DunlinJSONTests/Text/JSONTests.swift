import Dunlin
import DunlinFoundation
import FoundationEssentials
import LedgerRows
import Testing

@testable import DunlinJSON

@Suite struct `JSON of dynamic values` {
    private static let date = Date(timeIntervalSince1970: 1.5)

    static let written: [(DynamicValue, DynamicValue.JSONFormat, String)] = [
        (["b": 1, "a": [true, nil]], DynamicValue.JSONFormat(), #"{"b":1,"a":[true,null]}"#),
        (["b": 1, "a": 2], DynamicValue.JSONFormat(order: .sorted), #"{"a":2,"b":1}"#),
        ("a/b", DynamicValue.JSONFormat(), #""a\/b""#),
        ("a/b", DynamicValue.JSONFormat(escapesSlashes: false), #""a/b""#),
        (
            "\"\\\u{8}\t\n\u{c}\r\u{1}\u{1f}\u{7f}é😀\u{2028}", DynamicValue.JSONFormat(),
            "\"\\\"\\\\\\b\\t\\n\\f\\r\\u0001\\u001f\u{7f}é😀\u{2028}\""
        ),
        (
            ["a": [1, []], "b": [:]], DynamicValue.JSONFormat(isIndented: true),
            "{\n  \"a\": [\n    1,\n    []\n  ],\n  \"b\": {}\n}"
        ),
        (.data([0, 255]), DynamicValue.JSONFormat(), "\"AP8=\""),
        (.date(date), DynamicValue.JSONFormat(), "\"1970-01-01T00:00:01.500Z\""),
        (.date(date), DynamicValue.JSONFormat(dates: .secondsSince1970), "1.5"),
        (.date(date), DynamicValue.JSONFormat(dates: .millisecondsSince1970), "1500"),
    ]

    @Test(.rows("RQ-75", "LX-3"), arguments: written)
    func `JSON is written as its format says`(value: DynamicValue, format: DynamicValue.JSONFormat, text: String) throws
    {
        #expect(String(try value.json(format)) == text)
    }

    private static func nested(_ depth: Int) -> DynamicValue {
        (0..<depth).reduce(1) { value, _ in [value] }
    }

    static let unwritable: [DynamicValue] = [
        .number(.init(Double.nan)), [.number(.init(-Double.infinity))], .set([1]), ["a": 1, "b": 2, "a": 3],
        nested(513),
    ]

    @Test(.rows("RQ-73", "RQ-74", "LX-5"), arguments: unwritable)
    func `a value that JSON cannot express is refused`(value: DynamicValue) throws {
        let error = #expect(throws: NetworkError.self) { try value.json() }
        #expect(error?.code == .invalidParameters)
        #expect(error?.foundationCode == .init("com.alamofire.error.serialization.request", -1016))
        _ = try Self.nested(512).json()
    }

    @Test(arguments: [Double.nan, .infinity, 1e300, -1e300, 253_402_300_800, -62_135_596_801])
    func `a date that is outside the calendar is refused`(seconds: Double) {
        let error = #expect(throws: NetworkError.self) {
            try DynamicValue.date(Date(timeIntervalSince1970: seconds)).json()
        }
        #expect(error?.code == .invalidParameters)
    }

    @Test func `the error of a refused value has AFNetworking's words`() {
        let error = #expect(throws: NetworkError.self) { try DynamicValue.set([]).json() }
        #expect(error?.reason == "The `parameters` argument is not valid JSON.")
        #expect(error?.underlying.map { "\($0)" }?.contains("set") == true)
    }

    static let read: [(String, DynamicValue)] = [
        (" {\"b\" : 1 , \"a\":[ true,false , null ]}\r\n\t", ["b": 1, "a": [true, false, nil]]),
        ("\u{FEFF}[]", []), ("{}", [:]), ("\"x\"", "x"),
        (#""\u00e9\ud83d\ude00\/\\\"\b\f\n\r\t""#, "é😀/\\\"\u{8}\u{c}\n\r\t"),
        (#"{"a":1,"b":3,"\u0061":2}"#, ["b": 3, "a": 2]), ("-0.10e+5", .number(.init(literal: "-0.10e+5") ?? .init(0))),
        ("123456789012345678901234567890", .number(.init(literal: "123456789012345678901234567890") ?? .init(0))),
    ]

    @Test(.rows("LX-4"), arguments: read)
    func `JSON is read as it is written, with its numbers, and of a repeated member the last`(
        text: String, value: DynamicValue
    )
        throws
    {
        #expect(try DynamicValue(json: Bytes(text)) == value)
    }

    static let unreadable: [(Bytes, HTTP.JSON.SyntaxError.Problem, Int)] = [
        ("", .unexpectedEnd, 0), (" ", .unexpectedEnd, 1), ("[1,]", .unexpectedText, 3), ("[1 2]", .unexpectedText, 3),
        ("{\"a\"}", .unexpectedText, 4), ("{1:2}", .unexpectedText, 1), ("[", .unexpectedEnd, 1),
        ("nul", .unexpectedEnd, 3),
        ("nulL", .unexpectedText, 3), ("01", .unexpectedText, 1), ("1 2", .trailingText, 2),
        ("NaN", .unexpectedText, 0),
        ("\"a", .unexpectedEnd, 2), ("\"\n\"", .controlCharacter, 1), ("\"\\x\"", .unexpectedText, 2),
        ("\"\\ud800\"", .loneSurrogate, 7), ("\"\\udc00\"", .loneSurrogate, 7),
        ("\"\\ud800\\ud800\"", .loneSurrogate, 13),
        ("\"\\u12\"", .unexpectedText, 5), ("// x\n1", .unexpectedText, 0), ([0x22, 0xFF, 0x22], .invalidUTF8, 1),
        ("{\"a\":1,}", .unexpectedText, 7), (Bytes(String(repeating: "[", count: 100_000)), .tooDeep, 512),
    ]

    @Test(.rows("LX-4"), arguments: unreadable)
    func `invalid JSON is refused with the problem and its place`(
        text: Bytes, problem: HTTP.JSON.SyntaxError.Problem, offset: Int
    ) {
        let error = #expect(throws: HTTP.JSON.SyntaxError.self) { try DynamicValue(json: text) }
        #expect(error?.problem == problem && error?.offset == offset)
    }

    @Test func `JSON that was written is read as the same value`() throws {
        for (value, format, _) in Self.written where value.data == nil && value.date == nil && format.order == .given {
            #expect(try DynamicValue(json: value.json(format)) == value)
        }
        let deep = Self.nested(512)
        #expect(try DynamicValue(json: deep.json()) == deep)
    }
}
