import DunlinCommandLine
import Foundation
import Testing

@testable import DunlinCLI

/// JSON for people.
@Suite struct JSONPrinterTests {
    @Test(
        arguments: [
            ("{}", "{}\n"), ("[ ]", "[]\n"), (" \n{ \"a\" :1 } \n", "{\n  \"a\": 1\n}\n"),
            ("[1,[2,{\"b\":[]}]]", "[\n  1,\n  [\n    2,\n    {\n      \"b\": []\n    }\n  ]\n]\n"),
            // As they were sent.
            ("[1.50e+3,-0,1E400]", "[\n  1.50e+3,\n  -0,\n  1E400\n]\n"),
            (#"["\u00e9\n\"\\\/ é ,:[]{}"]"#, "[\n  \"\\u00e9\\n\\\"\\\\\\/ é ,:[]{}\"\n]\n"),
            ("true", "true\n"), ("12", "12\n"), (#""a""#, "\"a\"\n"), ("null\n", "null\n"), ("", ""), (" \n", ""),
            ("{\"a\":1}\n{\"a\":2}\n", "{\n  \"a\": 1\n}\n{\n  \"a\": 2\n}\n"), ("1 2", "1\n2\n"),
        ] as [(String, String)])
    func `it is indented, and its tokens stay`(text: String, expected: String) {
        Self.expect(text, expected, indents: true)
    }

    @Test(
        arguments: [
            ("<html>{\"a\": 1}", "<html>{\"a\": 1}"), ("  hello  world\n", "  hello  world\n"),
            ("{ \"a\": tru!e }", "{\n  \"a\": tru!e }"), ("{  oh, no}", "{  oh, no}"),
            ("[1,  2 3]", "[\n  1,\n  2 3]"), ("[01]", "[\n  01]"), ("[1.]", "[\n  1.]"),
            ("{\"a\": 1] }", "{\n  \"a\": 1] }"), ("[1}  ", "[\n  1}  "), ("{\"a\\q\": 1}", "{\n  \"a\\q\": 1}"),
            ("[\"a\nb\"]", "[\n  \"a\nb\"]"), ("{\"a\":1,}", "{\n  \"a\": 1,\n  }"), ("nul", "nul\n"),
            (")]}'\n{}", ")]}'\n{}"), ("[\"cut", "[\n  \"cut\n"), ("{\"a\": ", "{\n  \"a\": \n"),
        ] as [(String, String)])
    func `from where it is no JSON all is text`(text: String, expected: String) {
        Self.expect(text, expected, indents: true)
    }

    @Test func `without indentation nothing but colours is added`() {
        for text in ["{ \"a\" : [ 1 , true ] }\n\n{}", "[1,2", "oh { \"a\": 1 }", "{\"a\": nope", "1 \"b\"\t2 "] {
            Self.expect(text, text, indents: false)
        }
    }

    @Test func `names, strings, numbers and words have colours of their own`() {
        var printer = JSONPrinter(indents: false, hasColour: true)
        let text = String(decoding: printer.take(#"{"a":["b",-1.5,true]}"#.utf8) + printer.end(), as: UTF8.self)
        let (name, string) = (TextStyle.name.control, TextStyle.string.control)
        let (number, word, end) = (TextStyle.number.control, TextStyle.word.control, TextStyle.plain.control)
        #expect(
            text == "{\(name)\"a\"\(end):[\(string)\"b\"\(end),\(number)-1.5\(end),\(word)true\(end)]}")
    }

    @Test func `a colour ends with its piece`() {
        var printer = JSONPrinter(indents: false, hasColour: true)
        let (string, end) = (TextStyle.string.control, TextStyle.plain.control)
        #expect(String(decoding: printer.take(#"["a"#.utf8), as: UTF8.self) == "[\(string)\"a\(end)")
        #expect(String(decoding: printer.take(#"b"]"#.utf8), as: UTF8.self) == "\(string)b\"\(end)]")
        #expect(printer.end() == [])
    }

    @Test func `neither depth nor indentation grows without end`() {
        let count = 100_000
        var printer = JSONPrinter(indents: true, hasColour: false)
        let written = printer.take([UInt8](repeating: UInt8(ascii: "["), count: count)) + printer.end()
        #expect(written.count { $0 == UInt8(ascii: "[") } == count)
        #expect(written.count < count + JSONPrinter.deepest * (2 * JSONPrinter.deepestIndent + 1) + 2)
        #expect(MemoryLayout<JSONPrinter>.size < 256)
    }

    @Test func `what it writes is the same JSON`() throws {
        var random = SystemRandomNumberGenerator()
        for _ in 0..<200 {
            let text = try JSONSerialization.data(withJSONObject: [Self.value(4, &random)], options: .sortedKeys)
            var printer = JSONPrinter(indents: true, hasColour: false)
            let cut = text.indices.randomElement() ?? 0
            let written = Data(printer.take(text[..<cut]) + printer.take(text[cut...]) + printer.end())
            let again = try JSONSerialization.data(
                withJSONObject: try JSONSerialization.jsonObject(with: written), options: .sortedKeys)
            #expect(again == text)
        }
    }

    private static func value(_ depth: Int, _ random: inout SystemRandomNumberGenerator) -> Any {
        switch Int.random(in: 0..<(depth == 0 ? 4 : 6), using: &random) {
        case 0: return Int.random(in: -1000...1000, using: &random)
        case 1: return "a\"\\\u{1}é\(Int.random(in: 0...9, using: &random))"
        case 2: return true
        case 3: return NSNull()
        case 4: return (0..<Int.random(in: 0...3, using: &random)).map { _ in value(depth - 1, &random) }
        default:
            let names = (0..<Int.random(in: 0...3, using: &random)).map { "n\($0)" }
            return Dictionary(uniqueKeysWithValues: names.map { ($0, value(depth - 1, &random)) })
        }
    }

    /// Whole and character by character, with colours and without.
    private static func expect(_ text: String, _ expected: String, indents: Bool) {
        for (hasColour, isWhole) in [(false, true), (false, false), (true, true), (true, false)] {
            var printer = JSONPrinter(indents: indents, hasColour: hasColour)
            var written: [UInt8] = []
            for piece in isWhole ? [Array(text.utf8)] : text.unicodeScalars.map({ Array(String($0).utf8) }) {
                written += printer.take(piece)
            }
            let shown = String(decoding: written + printer.end(), as: UTF8.self)
            #expect(shown.replacing(/\u{1B}\[[0-9;]*m/, with: "") == expected, "\(hasColour) \(isWhole)")
        }
    }
}
