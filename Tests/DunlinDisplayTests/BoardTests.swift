import Testing

@testable import DunlinDisplay

@Suite struct `Board of a display` {
    private typealias Board = DisplayBoard<Int>

    private static func line(_ text: String) -> DisplayLine { .status(text) }

    private func drawn(_ board: inout Board, at now: Duration) -> DisplayFrame? {
        guard board.step(at: now) == .draw else { return nil }
        return board.take(at: now)
    }

    @Test func `a display begins one draw at a time, until there is nothing to draw`() {
        var board = Board()
        #expect(board.begin() == false)
        _ = board.add(Self.line("a"))
        #expect(board.begin() == true)
        #expect(board.begin() == false)
        #expect(drawn(&board, at: .zero)?.live.map(\.line) == [Self.line("a")])
        #expect(board.step(at: .zero) == .rest)
        #expect(board.begin() == false)
        board.print(["x"])
        #expect(board.begin() == true)
    }

    @Test func `a display draws ten frames a second at most, however much changes`() {
        var board = Board()
        let id = board.add(Self.line("0"))
        var (now, frames) = (Duration.zero, 0)
        #expect(board.begin() == true)
        for round in 1...1000 {
            _ = board.change(id) { $0 = Self.line("\(round)") }
            switch board.step(at: now) {
            case .draw:
                _ = board.take(at: now)
                frames += 1
            case .wait(let time, let number):
                #expect(time - now <= .milliseconds(100))
                #expect(board.waited(number) == true)
                #expect(board.waited(number) == false)
            case .rest: Issue.record("there is something to draw")
            }
            now += .milliseconds(10)
        }
        #expect((99...101).contains(frames))
    }

    @Test func `a display has no timer unless something is animated`() {
        var board = Board()
        let id = board.add(.spinner("x"))
        #expect(board.begin() == true)
        _ = drawn(&board, at: .zero)
        guard case .wait(.milliseconds(100), let number) = board.step(at: .zero) else {
            Issue.record("a spinner turns")
            return
        }
        #expect(board.waited(number) == true)
        board.remove(id)
        #expect(drawn(&board, at: .milliseconds(100))?.live == [])
        #expect(board.step(at: .milliseconds(100)) == .rest)
    }

    @Test func `a line that has ended is shown once and forgotten`() {
        var board = Board()
        let bar = board.newID()
        let binding = board.bind(bar, .bar(BarLine(name: "a", since: .zero)))
        let spinner = board.add(.spinner("b"))
        board.end(bar, of: binding)
        board.end(spinner)
        board.end(spinner)
        board.print(["said"])
        let frame = board.take(at: .zero)
        #expect(frame.live.isEmpty && frame.ended.map(\.id) == [bar] && frame.printed == [Self.line("said")])
        #expect(board.take(at: .zero) == DisplayFrame())
        #expect(board.change(bar) { $0 = Self.line("late") } == false)
    }

    @Test func `only the latest binding of a line can change or end it`() {
        var board = Board()
        let id = board.newID()
        let first = board.bind(id, Self.line("first"))
        let second = board.bind(id, Self.line("second"))
        #expect(board.change(id, of: first) { $0 = Self.line("stale") } == false)
        board.end(id, of: first)
        #expect(board.take(at: .zero).live.map(\.line) == [Self.line("second")])
        board.end(id, of: second)
        #expect(board.has(id) == false)
        _ = board.bind(id, Self.line("again"))
        #expect(board.has(id))
    }

    @Test func `a change that changes nothing draws nothing`() {
        var board = Board()
        let id = board.add(Self.line("a"))
        _ = board.take(at: .zero)
        let isThere = board.change(id) { $0 = Self.line("a") }
        #expect(isThere)
        #expect(board.begin() == false)
    }

    @Test func `a display is finished at once, by its caller or by the draw that is under way`() {
        var board = Board()
        _ = board.add(.bar(BarLine(name: "a", since: .zero)))
        _ = board.add(.spinner("b"))
        #expect(board.begin() == true)
        _ = drawn(&board, at: .zero)
        guard case .wait(_, let number) = board.step(at: .zero) else {
            Issue.record("a spinner turns")
            return
        }
        #expect(board.finish(7) == true)
        #expect(board.waited(number) == false)
        #expect(drawn(&board, at: .zero)?.ended.count == 1)
        #expect(board.step(at: .zero) == .rest)
        #expect(board.takeWaiters().isEmpty)
        board.print(["x"])
        #expect(board.begin() == true)
        #expect(board.finish(8) == false)
        #expect(drawn(&board, at: .zero)?.printed.count == 1)
        #expect(board.step(at: .zero) == .rest)
        #expect(board.takeWaiters() == [8])
    }
}
