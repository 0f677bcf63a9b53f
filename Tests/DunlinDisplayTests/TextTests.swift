import Testing

@testable import DunlinDisplay

@Suite struct `Text of a display` {
    @Test(arguments: [
        ("", 0), ("abc", 3), ("é", 1), ("e\u{301}", 1), ("日本", 4), ("ｱ", 1), ("Ａ", 2), ("한글", 4),
        ("\u{1112}\u{1161}\u{11AB}", 2), ("🦆", 2), ("a\u{200B}b", 2), ("\u{1B}[31m", 4), ("…━─", 3),
        ("\u{20000}", 2), ("ไทย", 3), ("कि", 2),
    ])
    func `a text's width is the number of columns that a terminal gives it`(text: String, width: Int) {
        #expect(DisplayWidth.of(text) == width)
    }

    @Test(arguments: [
        ("abcdef", 3, "abc"), ("abc", 9, "abc"), ("日本語", 4, "日本"), ("日本語", 5, "日本"), ("日本語", 1, ""),
        ("e\u{301}x", 1, "e\u{301}"), ("abc", 0, ""), ("abc", -1, ""),
    ])
    func `a text is cut between characters, by columns`(text: String, width: Int, expected: String) {
        #expect(DisplayWidth.cut(text, to: width) == expected)
    }

    @Test(arguments: [
        ("archive.tar.gz", 14, "archive.tar.gz"), ("archive.tar.gz", 10, "archiv….gz"), ("archive.tar.gz", 3, "arc"),
        ("写真のアルバム.zip", 12, "写真のア…zip"), ("abc", 0, ""),
    ])
    func `a text that is too long keeps its beginning and its end`(text: String, width: Int, expected: String) {
        #expect(DisplayWidth.abridged(text, to: width, "…") == expected)
        #expect(DisplayWidth.of(DisplayWidth.abridged(text, to: width, "…")) <= width)
    }

    @Test(arguments: HostileNames.all.indices) func `a text from a server cannot control the terminal`(index: Int) {
        let (text, shown) = HostileNames.all[index]
        // Scalar by scalar: strings are equal that are canonically so.
        #expect(Array(ShownText.of(text).unicodeScalars) == Array(shown.unicodeScalars))
        #expect(ShownText.of(ShownText.of(text)) == ShownText.of(text))
    }

    @Test func `a shown text has no control characters and a limited length`() {
        let ranges: [ClosedRange<UInt32>] = [
            0...0xFFFF, 0x1_3000...0x1_34FF, 0x1_D000...0x1_D3FF, 0xE_0000...0xE_0FFF,
        ]
        for value in ranges.joined() {
            guard let scalar = Unicode.Scalar(value) else { continue }
            let isControl = ShownText.of(String(scalar)).unicodeScalars.contains { shown in
                [.control, .format, .lineSeparator, .paragraphSeparator].contains(shown.properties.generalCategory)
            }
            #expect(!isControl, "U+\(String(value, radix: 16))")
        }
        #expect(ShownText.of(String(repeating: "x", count: 1_000_000)).count == 4096)
        #expect(ShownText.lines(of: "a\nb\u{1B}[2J\n") == ["a", "b[2J", ""])
    }

    @Test(arguments: [
        (-5, "0 B"), (0, "0 B"), (999, "999 B"), (1000, "1.0 KiB"), (1024, "1.0 KiB"), (1536, "1.5 KiB"),
        (102_348, "99.9 KiB"), (102_349, "100 KiB"), (1_022_975, "999 KiB"), (1_022_976, "999 KiB"),
        (1_023_500, "1.0 MiB"), (27 << 20, "27.0 MiB"), (5 << 30, "5.0 GiB"), (1 << 50, "1.0 PiB"),
        (.max, "8.0 EiB"),
    ])
    func `a byte count is shown in at most four characters and a unit`(count: Int, text: String) {
        #expect(ByteCount(count).description == text)
        #expect(ByteCount(count).description.count <= ByteCount.width)
    }

    @Test(
        arguments: [
            (nil, ""), (0, "0 B/s"), (1536.4, "1.5 KiB/s"), (.infinity, ""), (.nan, ""), (-1, ""), (1e300, "888 PiB/s"),
        ] as [(Double?, String)])
    func `a rate is shown only if it is a finite number that is not negative`(rate: Double?, text: String) {
        #expect(RateText(rate).description == text)
    }

    @Test(
        arguments: [
            (nil, ""), (.zero, "0:00"), (.milliseconds(1), "0:01"), (.seconds(59), "0:59"), (.seconds(59.5), "1:00"),
            (.seconds(3599), "59:59"), (.seconds(3600), "1:00:00"), (.seconds(359_999), "99:59:59"),
            (.seconds(360_000), "4 d"), (.seconds(86_399_999), "999 d"), (.seconds(86_400_000), ""),
            (.seconds(-1), ""), (.seconds(Int64.max), ""),
        ] as [(Duration?, String)])
    func `a time is shown in minutes, hours or days`(time: Duration?, text: String) {
        #expect(TimeText(time).description == text)
        #expect(TimeText(time).description.count <= TimeText.width)
    }
}
