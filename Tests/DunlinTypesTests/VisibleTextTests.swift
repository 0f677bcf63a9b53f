import Testing

@testable import DunlinTypes

@Suite struct `Visible text` {
    /// Whatever moves the cursor, turns a line around or ends it.
    static let harmful: [UInt32] =
        Array(0...0x1F) + Array(0x7F...0x9F) + [0x061C, 0x200B, 0x200E, 0x200F, 0x2028, 0x2029]
        + Array(0x202A...0x202E) + Array(0x2066...0x2069) + [0xAD, 0xFEFF, 0xE0041]

    private static func isHarmless(_ text: String) -> Bool {
        text.unicodeScalars.allSatisfy { !harmful.contains($0.value) }
    }

    @Test(arguments: harmful)
    func `visible text has nothing in it that drives a terminal or turns a line`(value: UInt32) throws {
        let scalar = try #require(Unicode.Scalar(value))
        let text = "a\(scalar)[2Jb"
        #expect(["a[2Jb", "a [2Jb"].contains(VisibleText.of(text)))
        #expect(VisibleText.of(VisibleText.of(text)) == VisibleText.of(text))

        let fields: Fields = ["X-\(scalar)Name": "v\(scalar)alue"]
        let error = NetworkError(.invalidResponse, text, peer: text, underlying: Told(description: text))
        let cookie = HTTP.Cookie(name: text, value: "v", domain: "a.test")
        for shown in [fields.description, error.reason, error.description, "\(cookie)"] {
            #expect(Self.isHarmless(shown.replacing("\n", with: "")), "\(shown.debugDescription)")
        }
        #expect(!error.description.contains("\n"))
        #expect(!fields.description.contains("\n"))
    }

    private struct Told: Error, CustomStringConvertible {
        let description: String
    }

    @Test(arguments: ["", "plain", "straße", "日本語", "e\u{301}", "👍🏽", "\"quoted\\\"", "العربية"])
    func `visible text is as it was where nothing is wrong with it`(text: String) {
        #expect(VisibleText.of(text) == text)
    }

    @Test func `visible text has a limit, unless nobody wants one`() {
        let long = String(repeating: "x", count: 100_000)
        #expect(VisibleText.of(long).count == VisibleText.longest)
        #expect(VisibleText.of(long, upTo: .max) == long)
        #expect(VisibleText.of("\u{1B}" + long, upTo: .max) == long)
        #expect(VisibleText.of("abc", upTo: 2) == "ab")
    }

    @Test func `visible text carries few marks on one character`() {
        let piled = "a" + String(repeating: "\u{301}", count: 100)
        #expect(VisibleText.of(piled).unicodeScalars.count == 5)
    }
}
