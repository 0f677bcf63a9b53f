import Dunlin
import DunlinCommandLine
import Testing

@testable import DunlinCLI

/// How a body is printed, by its type, its first bytes, the screen and the options.
@Suite struct BodyPrinterTests {
    private static let terminal = Screen(isTerminal: true, reported: 80) { ["TERM": "xterm"][$0] }
    private static let plain = Screen(isTerminal: true, reported: 80) { ["TERM": "xterm", "NO_COLOR": "1"][$0] }
    private static let pipe = Screen(isTerminal: false) { ["TERM": "xterm"][$0] }

    private static func printed(
        _ text: String, _ type: String?, on screen: Screen, pretty: PrintOptions.Pretty? = nil, isRaw: Bool = false
    ) throws -> String {
        var printer = BodyPrinter(
            contentType: type, options: PrintOptions(pretty: pretty, isRaw: isRaw), screen: screen)
        let shown = try printer.take(Bytes(text)).array + printer.end().array
        return String(decoding: shown, as: UTF8.self).replacing("\u{1B}", with: "^")
    }

    @Test(
        arguments: [
            (terminal, nil, false, "[\n  ^[35m1^[0m,\n  ^[32m\"\\u001b\"^[0m\n]\n"),
            (plain, nil, false, "[\n  1,\n  \"\\u001b\"\n]\n"), (pipe, nil, false, "[1,\"^\"]"),
            (terminal, .some(.none), false, #"[1,"\u001b"]"#),
            (terminal, .format, false, "[\n  1,\n  \"\\u001b\"\n]\n"),
            (terminal, .colors, false, "[^[35m1^[0m,^[32m\"\\u001b\"^[0m]"),
            // What was asked for goes into a pipe, and is coloured whatever the environment says.
            (pipe, .format, false, "[\n  1,\n  \"\\u001b\"\n]\n"),
            (pipe, .colors, false, "[^[35m1^[0m,^[32m\"\\u001b\"^[0m]"),
            (plain, .colors, false, "[^[35m1^[0m,^[32m\"\\u001b\"^[0m]"), (pipe, .some(.none), false, "[1,\"^\"]"),
            (terminal, nil, true, "[1,\"^\"]"), (pipe, nil, true, "[1,\"^\"]"),
        ] as [(Screen, PrintOptions.Pretty?, Bool, String)])
    func `JSON is pretty where it is read`(
        screen: Screen, pretty: PrintOptions.Pretty?, isRaw: Bool, expected: String
    ) throws {
        for type in ["application/json", "application/problem+json; charset=utf-8", "TEXT/JSON"] {
            #expect(try Self.printed("[1,\"\u{1B}\"]", type, on: screen, pretty: pretty, isRaw: isRaw) == expected)
        }
    }

    @Test func `lines of JSON stay lines, and other text stays text`() throws {
        let lines = "{\"a\":1}\n{\"a\":2}\n"
        let coloured = "{^[1m\"a\"^[0m:^[35m1^[0m}\n{^[1m\"a\"^[0m:^[35m2^[0m}\n"
        #expect(try Self.printed(lines, "application/x-ndjson", on: Self.terminal) == coloured)
        #expect(try Self.printed(lines, "application/x-ndjson", on: Self.plain) == lines)
        for type in [nil, "text/plain", "text/html"] {
            #expect(try Self.printed("[1,\u{9B}2]", type, on: Self.terminal) == #"[1,\u009b2]"#)
            #expect(try Self.printed("[1,\u{9B}2]", type, on: Self.pipe) == "[1,\u{9B}2]")
        }
    }

    @Test(
        arguments: [
            ("image/png", "PNG", true), ("image/svg+xml", "<svg/>", false), ("video/mp4; codecs=x", "abc", true),
            ("text/plain", "a\0b", true), (nil, "\u{1}\u{2}\u{3}abc", true),
            (nil, "\u{1B}[1mbold\u{1B}[0m\r\n", false), ("application/octet-stream", "text", false),
            ("application/json", "\0", true), (nil, "one \u{1} in many letters", false),
        ] as [(String?, String, Bool)])
    func `a binary body is not for a terminal`(type: String?, text: String, isBinary: Bool) throws {
        #expect((BodyType(type, first: Array(text.utf8)) == .binary) == isBinary)
        if isBinary {
            #expect(throws: BinaryBody.self) { try Self.printed(text, type, on: Self.terminal) }
            #expect(try Self.printed(text, type, on: Self.terminal, isRaw: true) == text)
        }
        #expect(try Self.printed(text, type, on: Self.pipe, pretty: nil) == text.replacing("\u{1B}", with: "^"))
    }

    @Test func `compressed bytes are binary`() {
        #expect(BodyType(nil, first: [0x1F, 0x8B, 0x08]) == .binary)
    }

    @Test func `raw and pretty contradict each other`() {
        let expected = UsageError(description: "--raw and --pretty contradict each other; give one")
        #expect(throws: expected) { try Command(arguments: ["--raw", "--pretty", "all", "a.test"]) }
        let other = UsageError(description: "--pretty takes one of all, colors, format, none, not \"some\"")
        #expect(throws: other) { try Command(arguments: ["--pretty=some", "a.test"]) }
    }
}
