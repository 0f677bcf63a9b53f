import Dunlin
import Testing

@testable import DunlinDisplay

/// Where the time of a request went, as bars on one axis.
@Suite struct WaterfallTests {
    private static let plain = DisplayStyle(hasColour: false, hasUnicode: true)

    /// A hop with phases of so many milliseconds.
    private static func hop(from start: Int64, _ phases: [(HTTP.Phase, Int64)]) -> HTTP.Hop {
        var hop = HTTP.Hop()
        hop.connection = 7
        hop.peer = .v4(0x7F00_0001, port: 80)
        hop.started = HTTP.Instant(nanoseconds: start * 1_000_000)
        hop.ended = hop.started
        for (phase, time) in phases {
            hop[phase] = time * 1_000_000
            hop.ended.nanoseconds += time * 1_000_000
        }
        return hop
    }

    private static let usual = hop(from: 5, [(.connect, 10), (.tls, 20), (.firstByte, 40), (.receive, 10)])

    @Test func `each phase begins where the one before it ended`() {
        let expected = """
            new connection 7 to 127.0.0.1:80, 80.0 ms
              connect     10.0 ms  ━━━━━
              tls         20.0 ms       ━━━━━━━━━━
              firstByte   40.0 ms                 ────────────────────
              receive     10.0 ms                                     ━━━━━
                                   0                40.0 ms         80.0 ms
            """
        #expect(Waterfall([Self.usual]).lines(width: 63, style: Self.plain).joined(separator: "\n") == expected)
    }

    @Test func `hops are on one axis, with the time between them`() {
        var second = Self.hop(from: 45, [(.firstByte, 10), (.receive, 30)])
        second.isConnectionReused = true
        let hops = [Self.hop(from: 5, [(.connect, 20)]), second]
        let expected = """
            new connection 7 to 127.0.0.1:80, 20.0 ms
              connect     20.0 ms  ━━━━━━━━━━
            reused connection 7 to 127.0.0.1:80, 40.0 ms
              firstByte   10.0 ms                      ─────
              receive     30.0 ms                           ━━━━━━━━━━━━━━━
                                   0                40.0 ms         80.0 ms
            """
        #expect(Waterfall(hops).lines(width: 63, style: Self.plain).joined(separator: "\n") == expected)
    }

    @Test(arguments: 0...140)
    func `no line is wider than asked for, and every phase has a bar`(width: Int) {
        let short = Self.hop(from: 0, [(.connect, 1), (.send, 1), (.firstByte, 1_000_000), (.receive, 1)])
        for hops in [[Self.usual], [short], [Self.usual, short]] {
            let lines = Waterfall(hops).lines(width: width, style: Self.plain)
            #expect(lines.allSatisfy { DisplayWidth.of($0) <= max(40, width) }, "\(lines)")
            #expect(lines.count { $0.contains("━") || $0.contains("─") } == lines.count - hops.count - 1)
        }
    }

    @Test func `without colour and Unicode there are plain characters only`() {
        let style = DisplayStyle(hasColour: false, hasUnicode: false)
        let lines = Waterfall([Self.usual]).lines(width: 63, style: style)
        #expect(lines.dropFirst().first == "  connect     10.0 ms  =====")
        #expect(lines.allSatisfy { $0.utf8.allSatisfy { $0 < 0x80 } })
    }

    @Test func `waiting is drawn lighter than work`() {
        let style = DisplayStyle(hasColour: true, hasUnicode: true)
        let lines = Waterfall([Self.usual]).lines(width: 63, style: style)
        #expect(lines.count { $0.contains("\u{1B}[36m━") } == 2)
        #expect(lines.count { $0.contains("\u{1B}[2m─") } == 1)
        #expect(lines.count { $0.contains("\u{1B}[32m━") } == 1)
    }

    @Test func `a hop is a single bar, too`() {
        let second = Self.hop(from: 45, [(.firstByte, 10), (.receive, 30)])
        let hops = [second, Self.hop(from: 5, [(.connect, 20)]), Self.hop(from: 85, [])]
        let expected = ["          ───━━━━━━━", "━━━━━", "                   ━"]
        #expect(Waterfall(hops).bars(columns: 20, style: Self.plain) == expected)
        #expect(Waterfall(hops).bars(columns: 0, style: Self.plain) == ["─", "━", "━"])
    }

    /// A body that still arrives has no end yet, and a clock may have gone wrong.
    @Test func `hops under way and hops of any numbers are drawn`() {
        var underWay = Self.usual
        underWay.ended = HTTP.Instant(nanoseconds: 0)
        var endless = HTTP.Hop()
        endless[.connect] = .max
        endless[.receive] = .max
        endless.started = HTTP.Instant(nanoseconds: .max)
        for hops in [[underWay], [endless], [underWay, endless], [endless, underWay], [HTTP.Hop()]] {
            let lines = Waterfall(hops).lines(width: 80, style: Self.plain)
            #expect(lines.allSatisfy { DisplayWidth.of($0) <= 80 })
            #expect(Waterfall(hops).bars(columns: 20, style: Self.plain).allSatisfy { (1...20).contains($0.count) })
        }
        #expect(Waterfall(HTTPSession.Metrics()).lines(width: 80).isEmpty)
    }
}
