import Dunlin
import FoundationEssentials
import Testing

@testable import DunlinJSON

/// What suites of JSON try, in our own words: what must be taken, what must be refused, and that either takes no longer
/// than its length.
@Suite(.timeLimit(.minutes(10))) struct `Texts of JSON` {
    static let taken: [String] = [
        "null", "true", "false", "0", "-0", "1", "-1.5e-10", "1E+2", "0.0", "123456789012345678901234567890", "1e9999",
        "\"\"",
        "\"a\"", "[]", "{}", " [ ] ", "\t\n\r 1 \r\n\t", "[1,2]", "[[],{}]", "{\"a\":{}}", "{\"\":0}",
        "{\"a\":1,\"b\":2}",
        "\"\\\"\\\\\\/\\b\\f\\n\\r\\t\"", "\"\\u0000\"", "\"\\u00E9\"", "\"\\ud83d\\uDE00\"", "\"é😀\u{7F}\u{2028}\"",
        "\"\u{FEFF}\"", "[\"\\uFFFF\"]", "{\"\\u0061\":1}", "\u{FEFF}1", "[-0,-0.0,1.0]", "[null,null]",
        "\"\u{10FFFF}\"", "\"12345678\"", "\"123456789012345\\n1234567890\"",
    ]

    static let refused: [Bytes] = [
        "", " ", "nul", "nulll", "True", "NaN", "Infinity", "-Infinity", "-", "+1", "01", "-01", "1.", ".5", "1.e1",
        "1e", "1e+",
        "0x10", "1_000", "1 2", "--1", "1-2", "'a'", "\"a", "a\"", "\"\\\"", "\"\\x41\"", "\"\\u12\"", "\"\\u12G4\"",
        "\"\\ud800\"", "\"\\ud800\\n\"", "\"\\ud800x\"", "\"\\ud800\\ud800\"", "\"\\udc00\"", "\"\\udc00\\ud800\"",
        "\"\t\"",
        "\"\n\"", "\"\u{0}\"", "\"\u{1F}\"", "[", "]", "[1", "[1,", "[1,]", "[,1]", "[1,,2]", "[1 2]", "[1:2]", "[1}",
        "[\"a\",",
        "{", "}", "{]", "{\"a\"", "{\"a\":", "{\"a\":1", "{\"a\":1,", "{\"a\":1,}", "{,}", "{\"a\" 1}", "{a:1}",
        "{1:1}",
        "{\"a\":1 \"b\":2}", "{\"a\":1:2}", "{null:1}", "{'a':1}", "[1]]", "{}{}", "[] x", "1,", "// x\n1", "/* x */1",
        "1//",
        "\u{A0}1", "\u{2028}1", "\u{0C}1", "1\u{0B}", [0x31, 0x32, 0x00], [0xEF, 0xBB], [0xEF, 0xBB, 0xBF],
        "\u{FEFF}\u{FEFF}1",
        [0x22, 0x80, 0x22], [0x22, 0xC3, 0x22], [0x22, 0xC0, 0xAF, 0x22], [0x22, 0xE0, 0x80, 0xAF, 0x22],
        [0x22, 0xED, 0xA0, 0x80, 0x22], [0x22, 0xF0, 0x80, 0x80, 0xAF, 0x22], [0x22, 0xF4, 0x90, 0x80, 0x80, 0x22],
        [0x22, 0xF8, 0x88, 0x80, 0x80, 0x80, 0x22], [0x22, 0xFF, 0x22], [0x22, 0xE2, 0x82],
        [0x22, 0xF0, 0x9F, 0x98, 0x22],
        [0x80], [0x5B, 0xFF, 0x5D], [0x7B, 0x22, 0xFF, 0x22, 0x3A, 0x31, 0x7D],
    ]

    @Test(arguments: taken)
    func `what RFC 8259 allows is taken, and no part of it that ends early`(text: String) throws {
        let whole = Bytes(text)
        let value = try DynamicValue(json: whole)
        #expect(try DynamicValue(json: value.json(DynamicValue.JSONFormat(escapesSlashes: false))) == value)
        let isNumber = value.number != nil
        for length in 0..<whole.count where !isNumber {
            let part = whole[0..<length]
            if String(part).allSatisfy({ " \t\n\r\u{FEFF}".contains($0) }) || !Self.isWhole(part, before: whole) {
                #expect(throws: HTTP.JSON.SyntaxError.self, "\(text) cut at \(length)") { try DynamicValue(json: part) }
            }
        }
    }

    /// Whether nothing but blanks was cut off.
    private static func isWhole(_ part: Bytes, before whole: Bytes) -> Bool {
        whole[part.count..<whole.count].allSatisfy { [0x20, 0x09, 0x0A, 0x0D].contains($0) }
    }

    @Test(arguments: refused)
    func `what RFC 8259 does not allow is refused with its place, as a dynamic value and as a type`(text: Bytes) {
        let error = #expect(throws: HTTP.JSON.SyntaxError.self) { try DynamicValue(json: text) }
        #expect((0...text.count).contains(error?.offset ?? -1))
        let decoding = #expect(throws: DecodingError.self) {
            try HTTP.JSON.standard.decode(DynamicValue.self, from: text)
        }
        guard case .dataCorrupted(let context)? = decoding else {
            Issue.record("\(String(describing: decoding))")
            return
        }
        #expect(context.codingPath.isEmpty && context.underlyingError is HTTP.JSON.SyntaxError)
    }

    private static let document = Bytes(
        #"{"id": 17, "name": "Zürich 😀", "list": [1.5, -2e9, true, null, "a\/b\u00e9"], "inner": {"a": [], "b": {}}}"#)

    @Test func `a text that is changed in any byte is a value or a typed refusal`() {
        for index in Self.document.indices {
            for byte in [
                0x00, 0x0A, 0x20, 0x22, 0x2C, 0x30, 0x3A, 0x5B, 0x5C, 0x5D, 0x7B, 0x7D, 0x80, 0xC3, 0xED, 0xFF,
            ] as [UInt8] {
                var bytes = Array(Self.document)
                bytes[index] = byte
                do throws(HTTP.JSON.SyntaxError) {
                    _ = try DynamicValue(json: Bytes(bytes))
                } catch {
                    #expect((0...bytes.count).contains(error.offset) && error.line >= 1 && error.column >= 1)
                }
            }
        }
    }

    // MARK: Keys that come twice

    @Test(arguments: [
        #"{"a":1,"a":2}"#, #"{"a":1,"\u0061":2}"#, #"{"\u0061":1,"a":2}"#, #"{"b":0,"a":1,"c":0,"a":2}"#,
        "{" + (0..<40).map { "\"k\($0)\":0," }.joined() + "\"a\":1,\"a\":2}",
        "{\"a\":1," + (0..<40).map { "\"k\($0)\":0," }.joined() + "\"\\u0061\":2}",
    ])
    func `of a key that comes twice the last counts, or it is refused`(text: String) throws {
        struct Holder: Decodable { var a: Int }
        #expect(try HTTP.JSON.standard.decode(Holder.self, from: Bytes(text)).a == 2)
        #expect(try HTTP.JSON.standard.decode([String: Int].self, from: Bytes(text))["a"] == 2)
        #expect(throws: DecodingError.self) { try HTTP.JSON.strict.decode(Holder.self, from: Bytes(text)) }
        for value in [
            try DynamicValue(json: Bytes(text)), try HTTP.JSON.standard.decode(DynamicValue.self, from: Bytes(text)),
        ] {
            #expect(value["a"] == 2 && value.members?.filter { $0.key == "a" }.count == 1)
            #expect(try DynamicValue(json: value.json()) == value)
        }
        #expect(throws: DecodingError.self) { try HTTP.JSON.strict.decode(DynamicValue.self, from: Bytes(text)) }
    }

    @Test func `keys that differ are never taken for one`() throws {
        // Those of one length, with the same beginnings and ends.
        let keys = (0..<300).map { "beginning\($0 + 1000)and the end" } + ["é", "e\u{301}", "", "\u{0}", "a", "A"]
        let text =
            "{"
            + keys.map { key in "\(String(decoding: try! HTTP.JSON.standard.encode(key).array, as: UTF8.self)):1" }
            .joined(separator: ",") + "}"
        #expect(throws: Never.self) { try HTTP.JSON.strict.decode(DynamicValue.self, from: Bytes(text)) }
        #expect(try DynamicValue(json: Bytes(text)).members?.count == keys.count)
    }

    // MARK: Limits

    @Test func `depth, values and lengths of texts are limited`() {
        var json = HTTP.JSON()
        json.limits.depth = 3
        json.limits.values = 6
        json.limits.textLength = 4
        func problem(_ text: Bytes) -> HTTP.JSON.SyntaxError.Problem? {
            do {
                _ = try json.decode(DynamicValue.self, from: text)
                return nil
            } catch DecodingError.dataCorrupted(let context) {
                return (context.underlyingError as? HTTP.JSON.SyntaxError)?.problem
            } catch {
                return nil
            }
        }
        #expect(problem("[[[1]]]") == nil && problem("[[[[]]]]") == .tooDeep && problem("[{\"a\":[{}]}]") == .tooDeep)
        #expect(problem("[1,2,3,4,5]") == nil && problem("[1,2,3,4,5,6]") == .tooMany)
        #expect(problem("{\"a\":1,\"b\":2}") == nil && problem("{\"a\":1,\"b\":2,\"c\":3}") == .tooMany)
        #expect(problem("\"1234\"") == nil && problem("\"12345\"") == .textTooLong)
        #expect(problem("{\"12345\":1}") == .textTooLong && problem("12345") == .textTooLong)
    }

    /// Of objects with so many members: read, looked up backwards, and refused for one key too many.
    /// Swift would compare it in a time that grows with the square of the run.
    @Test(arguments: ["\u{301}", #"\u0301"#, #"\uD834\uDD65"#, "\u{301}" + #"\u0327"#, "\u{1D165}"])
    func `a text or key has at most 256 combining marks in a row`(mark: String) {
        let each = mark.unicodeScalars.count == 7 ? 2 : 1
        let (most, more) = (256 / each, 256 / each + 1)
        func problem(_ text: String) -> HTTP.JSON.SyntaxError.Problem? {
            do throws(HTTP.JSON.SyntaxError) {
                _ = try DynamicValue(json: Bytes(text))
                return nil
            } catch {
                return error.problem
            }
        }
        for beginning in ["", "a", #"\n"#, String(repeating: "a", count: 500)] {
            let (allowed, refused) = [most, more].reduce(into: ("", "")) { texts, count in
                texts = (texts.1, beginning + String(repeating: mark, count: count))
            }
            #expect(problem("[\"\(allowed)\"]") == nil && problem("{\"\(allowed)\":1}") == nil)
            #expect(problem("[\"\(refused)\"]") == .tooManyMarks && problem("{\"\(refused)\":1}") == .tooManyMarks)
            #expect(problem("[\"\(allowed)a\(allowed)\"]") == nil)
        }
    }

    @Test func `large objects, repeated keys and long texts take time in proportion`() throws {
        struct Backwards: Decodable {
            var sum = 0
            init(from decoder: any Decoder) throws {
                let container = try decoder.container(keyedBy: `The meaning of JSON`.AnyKey.self)
                for key in container.allKeys.reversed() { sum += try container.decode(Int.self, forKey: key) }
            }
        }
        let count = 100_000
        let members = (0..<count).map { "\"member \($0)\":1" }
        let plain = Bytes("{" + members.joined(separator: ",") + "}")
        let escaped = Bytes("{" + members.map { "\"\\u006d" + $0.dropFirst(2) }.joined(separator: ",") + "}")
        let same = Bytes("{" + (0..<count).map { _ in "\"a\":1" }.joined(separator: ",") + "}")
        let alike = Bytes(
            "{" + (0..<count).map { "\"12345678\(100_000 + $0)12345678\":1" }.joined(separator: ",") + "}")
        for text in [plain, escaped, alike] {
            #expect(try HTTP.JSON.strict.decode(Backwards.self, from: text).sum == count)
        }
        #expect(try HTTP.JSON.standard.decode([String: Int].self, from: same) == ["a": 1])
        #expect(throws: DecodingError.self) { try HTTP.JSON.strict.decode(DynamicValue.self, from: same) }
        let long = Bytes("\"" + String(repeating: "\\u0041é", count: 500_000) + "\"")
        #expect(try HTTP.JSON.standard.decode(String.self, from: long).utf8.count == 1_500_000)
        let digits = Bytes(String(repeating: "7", count: 1_000_000))
        #expect(throws: DecodingError.self) { try HTTP.JSON.standard.decode(Int.self, from: digits) }
        #expect(throws: DecodingError.self) { try HTTP.JSON.standard.decode(Double.self, from: digits) }
        let zeros = Bytes("0." + String(repeating: "0", count: 1_000_000) + "1e1000001")
        #expect(throws: Never.self) { _ = try DynamicValue(json: zeros) }
        _ = Reading { try HTTP.JSON.standard.decode(Int.self, from: zeros) }
        _ = Reading { try HTTP.JSON.standard.decode(Decimal.self, from: zeros) }
    }
}
