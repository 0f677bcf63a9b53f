import Dunlin
import LedgerRows
import Testing

@testable import DunlinActivity
@testable import DunlinDisplay

@Suite struct `Lines of a display` {
    private static let unicode = DisplayStyle(hasColour: false, hasUnicode: true)
    private static let ascii = DisplayStyle(hasColour: false, hasUnicode: false)

    private static func bar(
        _ name: String = "disk.img", _ bytes: Int = 12 << 20, of total: Int? = 27 << 20, rate: Double? = 3_565_158,
        at now: Duration = .seconds(4), end: BarLine.End? = nil
    ) -> DisplayLine {
        var line = BarLine(name: ShownText.of(name), since: .zero)
        line.show(.init(wireBytes: bytes, totalBytes: total, bytesPerSecond: rate), at: now)
        if let end { line.end(end, at: now) }
        return .bar(line)
    }

    private static func text(
        _ line: DisplayLine, _ columns: Int, _ style: DisplayStyle = unicode, at time: Duration = .zero,
        nameWidth: Int? = nil
    ) -> String {
        let width = nameWidth ?? DisplayWidth.of(line.name ?? "")
        return line.row(Layout(width: columns - 1, nameWidth: width, style: style, time: time)).text(inColour: false)
    }

    private static let tables: [(DisplayLine, Int, DisplayStyle, String)] = [
        (bar(), 20, unicode, "disk.img   44%"),
        (bar(), 40, unicode, "disk.img  ━━━━━╸───────   44%      0:05"),
        (bar(), 60, unicode, "disk.img  ━━━━━━━━━────────────   44%   3.4 MiB/s      0:05"),
        (
            bar(), 80, unicode,
            "disk.img  ━━━━━━━━━╸────────────   44%  12.0 MiB/27.0 MiB   3.4 MiB/s      0:05"
        ),
        (
            bar(), 200, unicode,
            "disk.img  ━━━━━━━━━━━━━━━━━╸──────────────────────   44%  12.0 MiB/27.0 MiB   3.4 MiB/s      0:05"
        ),
        (bar(), 40, ascii, "disk.img  =====........   44%      0:05"),
        (bar(), 8, unicode, "d   44%"),
        (bar(), 6, unicode, "   44"),
        (bar(), 2, unicode, ""),
        (bar("a-very-long-name-indeed.tar.gz"), 20, unicode, "a-very-l…r.gz   44%"),
        (bar("写真のアルバム二千二十六年.zip"), 40, unicode, "写真の…ip  ━━━━━───────   44%      0:05"),
        (bar(of: nil), 40, unicode, "disk.img                    ⠋"),
        (bar(of: nil), 80, unicode, "disk.img                             ⠋           12.0 MiB   3.4 MiB/s"),
        (bar(0, of: 0), 40, unicode, "disk.img  ─────────────    0%      0:00"),
        (bar(27 << 20, end: .well), 40, unicode, "disk.img  ━━━━━━━━━━━━━  done      0:04"),
        (
            bar(27 << 20, end: .well), 80, unicode,
            "disk.img  ━━━━━━━━━━━━━━━━━━━━━━  done           27.0 MiB   6.8 MiB/s      0:04"
        ),
        (bar(end: .cancelled), 40, unicode, "disk.img  ━━━━━╸───────  stop      0:04"),
        (bar(end: .failed("the peer closed the connection")), 40, unicode, "disk.img  failed: the peer closed the c"),
        (.spinner("checking"), 40, unicode, "⠋ checking"),
        (.spinner("checking"), 5, ascii, "- ch"),
        (.status("a line of the program's own"), 12, unicode, "a line of t"),
    ]

    private static func bar(_ bytes: Int, of total: Int? = 27 << 20, end: BarLine.End? = nil) -> DisplayLine {
        bar("disk.img", bytes, of: total, end: end)
    }

    @Test(.rows("UI-31"), arguments: Self.tables.indices) func `a line shows as many fields as it has room for`(
        index: Int
    ) {
        let (line, columns, style, expected) = Self.tables[index]
        #expect(Self.text(line, columns, style) == expected)
    }

    @Test func `a line is never wider than its limit, whatever it contains`() {
        let names = ["", "a", "disk.img", "日本語のとても長い名前.tar.gz", "\u{1B}[2Jx", String(repeating: "🦆", count: 300)]
        let totals: [Int?] = [nil, 0, 1, 27 << 20, .max]
        let ends: [BarLine.End?] = [nil, .well, .cancelled, .failed("日本語で失敗した理由")]
        for (name, total, end, columns) in product(names, totals, ends, [1, 2, 3, 5, 10, 20, 33, 40, 59, 80, 200]) {
            for bytes in [0, 1, .max] {
                let line = Self.bar(name, bytes, of: total, rate: Double(bytes), end: end)
                let row = line.row(
                    Layout(width: columns, nameWidth: 200, style: Self.unicode, time: .seconds(Int64.max)))
                #expect(row.width <= columns)
                #expect(DisplayWidth.of(row.text(inColour: false)) == row.width)
            }
        }
    }

    private func product<A, B, C, D>(_ a: [A], _ b: [B], _ c: [C], _ d: [D]) -> [(A, B, C, D)] {
        a.flatMap { a in b.flatMap { b in c.flatMap { c in d.map { (a, b, c, $0) } } } }
    }

    @Test func `the rate of what is over counts from the first byte of this run`() {
        var line = BarLine(name: "disk.img", since: .zero)
        line.show(.init(), at: .zero)
        // After a wait it goes on with what was there already.
        line.show(.init(wireBytes: 10 << 20, totalBytes: 14 << 20), at: .seconds(30))
        line.show(.init(wireBytes: 14 << 20, totalBytes: 14 << 20, isFinal: true), at: .seconds(34))
        #expect(Self.text(.bar(line), 80).contains("1.0 MiB/s"))
        #expect(line.plain == "disk.img: done, 14.0 MiB in 0:34")
    }

    @Test func `a transfer of which nothing has come waits, and is not animated`() {
        var line = BarLine(name: "disk.img", since: .zero)
        #expect(Self.text(.bar(line), 40).hasSuffix("  wait") && !line.isAnimated)
        line.show(.init(wireBytes: 1), at: .seconds(1))
        #expect(Self.text(.bar(line), 40).hasSuffix("  ⠋") && line.isAnimated)
        line = BarLine(name: "disk.img", since: .zero)
        line.show(.init(totalBytes: 5), at: .seconds(1))
        #expect(Self.text(.bar(line), 40).contains("  0%"))
        line = BarLine(name: "disk.img", since: .zero)
        line.end(.cancelled, at: .seconds(1))
        #expect(Self.text(.bar(line), 40).contains("  stop"))
    }

    @Test func `the fields of different lines are aligned in columns`() {
        let short = Self.text(Self.bar("a"), 80, nameWidth: 8)
        let long = Self.text(Self.bar("disk.img"), 80, nameWidth: 8)
        #expect(short.dropFirst(8) == long.dropFirst(8))
        #expect(short.hasPrefix("a       "))
    }

    @Test func `a line is coloured only if asked to be, and colour does not add to its width`() {
        let row = Self.bar().row(Layout(width: 39, nameWidth: 8, style: Self.unicode, time: .zero))
        #expect(row.text(inColour: true).contains("\u{1B}[32m━━━━━╸\u{1B}[0m"))
        #expect(!row.text(inColour: false).contains("\u{1B}"))
        #expect(row.width == 39)
    }

    @Test(.rows("UI-31")) func `a line of unknown length is animated by the time`() {
        let turning = (0..<11).map { Self.text(.spinner(""), 10, at: .milliseconds($0 * 100)) }
        #expect(Set(turning).count == 10 && turning[0] == turning[10])
        #expect(Self.bar(of: nil).isAnimated && !Self.bar().isAnimated)
        #expect(!Self.bar("x", 5, of: nil, end: .well).isAnimated)
    }

    @Test(arguments: [
        (bar(), "disk.img: 44%, 12.0 MiB of 27.0 MiB, 3.4 MiB/s, 0:05 left"),
        (bar(of: nil), "disk.img: 12.0 MiB, 3.4 MiB/s"),
        (bar(end: .well), "disk.img: done, 12.0 MiB in 0:04"),
        (bar(end: .cancelled), "disk.img: stopped after 12.0 MiB"),
        (bar(end: .failed("no route")), "disk.img: failed: no route"),
        (.status("words"), "words"), (.spinner("checking"), "checking"),
    ])
    func `a line is written out in words where there is no redrawing`(line: DisplayLine, expected: String) {
        #expect(line.plain == expected)
    }

    @Test func `a batch's line counts its requests and its failures`() {
        var progress = HTTPSession.BatchProgress(total: 10)
        progress.ended(well: true)
        progress.ended(well: false)
        progress.moved(sent: 0, received: 5 << 20)
        let line = DisplayLine.batch(BatchLine(name: "albums", progress: progress))
        #expect(Self.text(line, 40) == "albums  ━━━────────────  2/10  1 failed")
        #expect(Self.text(line, 80) == "albums  ━━━━━━━━────────────────────────────────  2/10   5.0 MiB  1 failed")
        #expect(line.plain == "albums: 2 of 10, 1 failed, 5.0 MiB")
        for columns in 1...100 { #expect(DisplayWidth.of(Self.text(line, columns)) < max(columns, 1)) }
        #expect(DisplayLine.batch(BatchLine(name: "none")).plain == "none: 0 of 0, 0 B")
    }

    @Test(
        .rows("UI-35"),
        arguments: [
            ([:], true, false), (["LANG": "en_US.UTF-8"], true, true),
            (["LANG": "C.utf8", "NO_COLOR": "1"], false, true),
            (["LC_ALL": "C", "LANG": "en_US.UTF-8"], true, false),
            (["LC_CTYPE": "de_DE.UTF-8", "NO_COLOR": ""], true, true),
        ] as [([String: String], Bool, Bool)])
    func `the environment decides about colour, Unicode and redrawing`(
        environment: [String: String], hasColour: Bool, hasUnicode: Bool
    ) {
        let style = DisplayStyle(environment)
        #expect(style.hasUnicode == hasUnicode)
        #expect(style.hasColour == hasColour)
        #expect(DisplayStyle.canRedraw(["TERM": "xterm"]) && !DisplayStyle.canRedraw(["TERM": "dumb"]))
        #expect(!DisplayStyle.canRedraw([:]))
    }
}
