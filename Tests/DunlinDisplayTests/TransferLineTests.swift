import Dunlin
import DunlinTesting
import Testing

@testable import DunlinDisplay

/// Lines of transfers that run side by side.
@Suite(.timeLimit(.minutes(10))) struct TransferLineTests {
    private static func text(_ line: DisplayLine, _ width: Int) -> String {
        let style = DisplayStyle(hasColour: false, hasUnicode: false)
        return line.row(Layout(width: width, nameWidth: 5, style: style, time: .zero)).text(inColour: false)
    }

    @Test(arguments: [
        (100, "total  =========...............................  3/10   1.0 MiB   2.0 KiB/s  1 failed"),
        (59, "total  ===...........  3/10   1.0 MiB   2.0 KiB/s  1 failed"),
        (45, "total  ==........  3/10   2.0 KiB/s  1 failed"),
        (31, "total  =.......  3/10  1 failed"), (30, "total  3/10  1 failed"), (20, "tota  3/10  1 failed"),
    ])
    func `the total has what there is room for`(width: Int, expected: String) {
        var sum = TransferSum(count: 10)
        (sum.finished, sum.failed, sum.bytes, sum.fraction, sum.bytesPerSecond) = (3, 1, 1 << 20, 0.24, 2048)
        let text = Self.text(.batch(BatchLine(name: "total", sum)), width)
        #expect(text == expected)
        #expect(text.count <= width)
    }

    @Test func `a transfer that waits for its turn shows that, and its time begins with its first bytes`() {
        var line = BarLine(name: "a", since: .zero, startsLate: true)
        line.show(.init(), at: .zero)
        #expect(Self.text(.bar(line), 59).split(separator: " ") == ["a", "wait"])
        line.show(.init(wireBytes: 500_000, totalBytes: 1_000_000), at: .seconds(50))
        line.show(.init(wireBytes: 1_000_000, totalBytes: 1_000_000, isFinal: true), at: .seconds(54))
        #expect(line.plain == "a: done, 977 KiB in 0:04")
        // What was there before the first sight counts for no rate.
        #expect(Self.text(.bar(line), 79).contains(" 122 KiB/s "))
    }

    @Test func `a file that was not needed says why`() {
        var line = BarLine(name: "a", since: .zero)
        line.end(.unneeded("it is there"), at: .zero)
        #expect(line.plain == "a: kept: it is there")
        #expect(Self.text(.bar(line), 59) == "a  kept: it is there")
    }

    @Test func `a display of ends writes nothing else where lines cannot be redrawn`() async {
        let paper = Paper(columns: nil)
        let display = TerminalDisplay.ofEnds(on: paper)
        let bar = ProgressDisplay("a", on: display)
        bar.show(.init(wireBytes: 50, totalBytes: 100))
        bar.rename("b")
        bar.show(.init(wireBytes: 100, totalBytes: 100, isFinal: true))
        await display.finish()
        #expect(paper.shown.count == 1 && paper.shown[0].hasPrefix("b: done, 100 B"))
    }
}
