import Dunlin
import LedgerRows
import Screens
import Testing

@testable import DunlinActivity
@testable import DunlinDisplay

@Suite struct `Painter of a display` {
    private static let style = DisplayStyle(hasColour: true, hasUnicode: true)

    private static func entry(_ id: UInt64, _ line: DisplayLine) -> DisplayFrame.Entry { .init(id: id, line: line) }

    private static func frame(_ live: [String], printed: [String] = [], ended: [String] = []) -> DisplayFrame {
        DisplayFrame(
            printed: printed.map { .status($0) },
            ended: ended.map { entry(0, .status($0)) },
            live: live.enumerated().map { entry(UInt64($0) + 1, .status($1)) })
    }

    private static func bar(_ name: String, _ bytes: Int, of total: Int? = 1000) -> DisplayLine {
        var line = BarLine(name: ShownText.of(name), since: .zero)
        line.show(.init(wireBytes: bytes, totalBytes: total), at: .zero)
        return .bar(line)
    }

    @Test(.rows("UI-32")) func `live lines are redrawn below the lines that stay`() {
        var (painter, screen) = (FramePainter(), Screen(columns: 40))
        screen.take("before\n")
        screen.take("\r")
        let frames = [
            Self.frame(["a 1", "b 1"]), Self.frame(["a 2", "b 2"], printed: ["said"]),
            Self.frame(["b 3"], ended: ["a!"]),
            Self.frame(["b 4", "c 4", "d 4"]), Self.frame([], ended: ["b!"]),
        ]
        let expected = [
            ["a 1", "b 1"], ["said", "a 2", "b 2"], ["said", "a!", "b 3"], ["said", "a!", "b 4", "c 4", "d 4"],
            ["said", "a!", "b!"],
        ]
        for (frame, lines) in zip(frames, expected) {
            screen.take(painter.paint(frame, Self.style, screen.size, at: .zero))
            #expect(screen.shown == ["before"] + lines)
            #expect(screen.isAtStartOfEmptyLine)
        }
        #expect(screen.problems.isEmpty && !screen.isOverrun)
    }

    static let numbers: [Int] = [.max, .min, -1, 0, 1, 2, 10_001]

    @Test(arguments: numbers, numbers)
    func `any progress can be painted on a terminal of any size`(first: Int, second: Int) {
        let lines = Self.numbers.flatMap { bytes in
            [Self.bar("a", bytes, of: nil)] + Self.numbers.map { Self.bar("写真の.zip", bytes, of: $0) }
        }
        let others = [DisplayLine.batch(BatchLine(name: "all")), .spinner("busy"), .status("said")]
        let frame = DisplayFrame(
            printed: [.status("x")], live: (lines + others).enumerated().map { Self.entry(UInt64($0), $1) })
        for style in [Self.style, DisplayStyle(hasColour: false, hasUnicode: false)] {
            var painter = FramePainter()
            for size in [TerminalSize(columns: first, rows: second), .init(columns: second, rows: first), nil] {
                for time in [Duration.zero, .seconds(2)] { _ = painter.paint(frame, style, size, at: time) }
            }
            // Nothing has come of it but a frame like any other.
            let text = painter.paint(frame, style, TerminalSize(columns: 80, rows: 24), at: .seconds(4))
            #expect(text.contains("and "))
        }
    }

    @Test func `an unchanged frame writes nothing, and a changed one is written in one piece`() {
        var painter = FramePainter()
        let size = TerminalSize(columns: 40, rows: 24)
        #expect(!painter.paint(Self.frame(["a"]), Self.style, size, at: .zero).isEmpty)
        #expect(painter.paint(Self.frame(["a"]), Self.style, size, at: .seconds(1)) == "")
        #expect(
            painter.paint(Self.frame(["b"]), Self.style, size, at: .seconds(1)) == "\r\u{1B}[1Ab\u{1B}[K\r\n\u{1B}[J")
    }

    @Test(arguments: [10, 17, 20, 39, 40, 79, 80, 200])
    func `a change of width leaves nothing of the previous frame behind`(columns: Int) {
        let lines = [Self.bar("disk.img", 440), Self.bar("写真のアルバム.zip", 990), Self.bar("x", 5, of: nil)]
        let frame = DisplayFrame(live: lines.enumerated().map { Self.entry(UInt64($0), $1) })
        for before in [20, 40, 80, 200] {
            var (painter, screen) = (FramePainter(), Screen(columns: before))
            screen.take(painter.paint(frame, Self.style, screen.size, at: .zero))
            screen.resize(columns: columns)
            screen.take(painter.paint(frame, Self.style, screen.size, at: .seconds(1)))
            var (other, fresh) = (FramePainter(), Screen(columns: columns))
            fresh.take(other.paint(frame, Self.style, fresh.size, at: .seconds(1)))
            #expect(screen.text == fresh.text, "\(before) to \(columns)")
            #expect(screen.text.allSatisfy { DisplayWidth.of($0) < columns })
        }
    }

    @Test func `a frame has no more lines than the terminal has room for`() {
        var (painter, screen) = (FramePainter(), Screen(columns: 40, rows: 5))
        for round in 0..<3 {
            let frame = Self.frame((0..<50).map { "line \($0), round \(round)" })
            screen.take(painter.paint(frame, Self.style, screen.size, at: .zero))
            #expect(screen.shown == (0..<3).map { "line \($0), round \(round)" } + ["and 47 more"])
        }
        #expect(!screen.isOverrun)
    }

    @Test(arguments: [true, false]) func `where there is little room the total stays in view`(isFirst: Bool) {
        var progress = HTTPSession.BatchProgress(total: 30)
        progress.ended(well: true)
        let total = DisplayLine.batch(BatchLine(name: "all", progress: progress))
        var lines = (0..<30).map { Self.bar("file \($0)", $0 < 25 ? 0 : 1, of: nil) }
        lines.insert(total, at: isFirst ? 0 : lines.count)
        var frame = DisplayFrame()
        frame.live = lines.enumerated().map { Self.entry(UInt64($0) + 1, $1) }
        var (painter, screen) = (FramePainter(), Screen(columns: 40, rows: 20))
        screen.take(painter.paint(frame, Self.style, screen.size, at: .zero))
        let shown = screen.shown.map { $0.split(separator: " ").prefix(2).joined(separator: " ") }
        let files: [String] = [0..<12, 25..<30].joined().map { "file \($0)" }
        #expect(shown.dropLast() == files + ["and 13"])
        #expect(screen.shown.last?.hasPrefix("all ") == true && screen.shown.last?.contains("1/30") == true)
        #expect(!screen.isOverrun)
        var (small, narrow) = (FramePainter(), Screen(columns: 40, rows: 2))
        narrow.take(small.paint(frame, Self.style, narrow.size, at: .zero))
        #expect(narrow.shown.count == 1 && narrow.shown[0].contains("1/30"))
    }

    @Test(.rows("UI-35"), arguments: HostileNames.all.indices) func `no name can control the terminal`(index: Int) {
        var (painter, screen) = (FramePainter(), Screen(columns: 30))
        let line = Self.bar(HostileNames.all[index].0, 500)
        for columns in [30, 12, 80] {
            screen.resize(columns: columns)
            screen.take(painter.paint(DisplayFrame(live: [Self.entry(1, line)]), Self.style, screen.size, at: .zero))
            #expect(screen.shown.count == 1 && screen.shown[0].contains("50%"))
        }
        #expect(screen.problems.isEmpty)
    }

    @Test func `a terminal of extreme size is painted without faults`() {
        for size in [(1, 1), (2, 1), (200, 1), (1, 2), (2, 2), (3, 3), (65_535, 65_535)] {
            var (painter, screen) = (FramePainter(), Screen(columns: size.0, rows: size.1))
            for round in 0..<4 {
                let live = [Self.entry(1, Self.bar("日本", round)), Self.entry(2, .spinner("x"))]
                let frame = DisplayFrame(live: live)
                screen.take(painter.paint(frame, Self.style, screen.size, at: .milliseconds(round * 100)))
                #expect(screen.shown.allSatisfy { DisplayWidth.of($0) <= max(1, size.0 - 1) } || size.1 == 1)
            }
            #expect(screen.problems.isEmpty && !screen.isOverrun && screen.text.count < 6)
        }
    }

    @Test func `without redrawing, progress is written at milestones, each on a line of its own`() {
        var painter = FramePainter()
        func paint(_ bytes: Int, at seconds: Int, ended: Bool = false) -> String {
            let entry = Self.entry(1, Self.bar("a", bytes))
            let frame = ended ? DisplayFrame(ended: [entry]) : DisplayFrame(live: [entry])
            return painter.paint(frame, Self.style, nil, at: .seconds(seconds))
        }
        #expect(paint(0, at: 0) == "")
        #expect(paint(110, at: 1) == "a: 11%, 110 B of 1.0 KiB\n")
        #expect(paint(150, at: 5) == "")
        #expect(paint(200, at: 5).hasPrefix("a: 20%"))
        #expect(paint(900, at: 5) == "")
        #expect(paint(900, at: 6).hasPrefix("a: 90%"))
        #expect(paint(1000, at: 6, ended: true).hasPrefix("a: 100%"))
        let said = painter.paint(Self.frame([], printed: ["x", ""]), Self.style, nil, at: .seconds(7))
        #expect(said == "x\n\n")
    }

    @Test func `a transfer's end is written once, however long it takes to be over`() {
        var painter = FramePainter()
        var line = BarLine(name: "a", since: .zero)
        line.end(.well, at: .seconds(1))
        line.isOver = true
        let entry = Self.entry(1, .bar(line))
        let ending = (0..<3).map { painter.paint(DisplayFrame(live: [entry]), Self.style, nil, at: .seconds($0 + 1)) }
        #expect(ending == ["", "", ""])
        let ended = painter.paint(DisplayFrame(ended: [entry]), Self.style, nil, at: .seconds(5))
        #expect(ended.hasPrefix("a: done"))
    }
}
