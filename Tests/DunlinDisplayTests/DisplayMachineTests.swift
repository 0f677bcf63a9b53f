import Testing

@testable import DunlinDisplay

@Suite struct `Machine of a display` {
    private typealias Machine = DisplayMachine<Int>

    private static func line(_ text: String) -> DisplayLine { .status(text) }

    private func drawn(_ machine: inout Machine, at now: Duration) -> DisplayFrame? {
        guard machine.step(at: now) == .draw else { return nil }
        return machine.take(at: now)
    }

    @Test func `a display begins one draw at a time, until there is nothing to draw`() {
        var machine = Machine()
        #expect(machine.begin() == false)
        _ = machine.add(Self.line("a"))
        #expect(machine.begin() == true)
        #expect(machine.begin() == false)
        #expect(drawn(&machine, at: .zero)?.live.map(\.line) == [Self.line("a")])
        #expect(machine.step(at: .zero) == .rest)
        #expect(machine.begin() == false)
        machine.print(["x"])
        #expect(machine.begin() == true)
    }

    @Test func `a display draws ten frames a second at most, however much changes`() {
        var machine = Machine()
        let id = machine.add(Self.line("0"))
        var (now, frames) = (Duration.zero, 0)
        #expect(machine.begin() == true)
        for round in 1...1000 {
            _ = machine.change(id) { $0 = Self.line("\(round)") }
            switch machine.step(at: now) {
            case .draw:
                _ = machine.take(at: now)
                frames += 1
            case .wait(let time, let number):
                #expect(time - now <= .milliseconds(100))
                #expect(machine.waited(number) == true)
                #expect(machine.waited(number) == false)
            case .rest: Issue.record("there is something to draw")
            }
            now += .milliseconds(10)
        }
        #expect((99...101).contains(frames))
    }

    @Test func `a display has no timer unless something is animated`() {
        var machine = Machine()
        let id = machine.add(.spinner("x"))
        #expect(machine.begin() == true)
        _ = drawn(&machine, at: .zero)
        guard case .wait(.milliseconds(100), let number) = machine.step(at: .zero) else {
            Issue.record("a spinner turns")
            return
        }
        #expect(machine.waited(number) == true)
        machine.remove(id)
        #expect(drawn(&machine, at: .milliseconds(100))?.live == [])
        #expect(machine.step(at: .milliseconds(100)) == .rest)
    }

    @Test func `a line that has ended is shown once and forgotten`() {
        var machine = Machine()
        let bar = machine.newID()
        let binding = machine.bind(bar, .bar(BarLine(name: "a", since: .zero)))
        let spinner = machine.add(.spinner("b"))
        machine.end(bar, of: binding)
        machine.end(spinner)
        machine.end(spinner)
        machine.print(["said"])
        let frame = machine.take(at: .zero)
        #expect(frame.live.isEmpty && frame.ended.map(\.id) == [bar] && frame.printed == [Self.line("said")])
        #expect(machine.take(at: .zero) == DisplayFrame())
        #expect(machine.change(bar) { $0 = Self.line("late") } == false)
    }

    @Test func `only the latest binding of a line can change or end it`() {
        var machine = Machine()
        let id = machine.newID()
        let first = machine.bind(id, Self.line("first"))
        let second = machine.bind(id, Self.line("second"))
        #expect(machine.change(id, of: first) { $0 = Self.line("stale") } == false)
        machine.end(id, of: first)
        #expect(machine.take(at: .zero).live.map(\.line) == [Self.line("second")])
        machine.end(id, of: second)
        #expect(machine.has(id) == false)
        _ = machine.bind(id, Self.line("again"))
        #expect(machine.has(id))
    }

    @Test func `a change that changes nothing draws nothing`() {
        var machine = Machine()
        let id = machine.add(Self.line("a"))
        _ = machine.take(at: .zero)
        let isThere = machine.change(id) { $0 = Self.line("a") }
        #expect(isThere)
        #expect(machine.begin() == false)
    }

    @Test func `a display is finished at once, by its caller or by the draw that is under way`() {
        var machine = Machine()
        _ = machine.add(.bar(BarLine(name: "a", since: .zero)))
        _ = machine.add(.spinner("b"))
        #expect(machine.begin() == true)
        _ = drawn(&machine, at: .zero)
        guard case .wait(_, let number) = machine.step(at: .zero) else {
            Issue.record("a spinner turns")
            return
        }
        #expect(machine.finish(7) == true)
        #expect(machine.waited(number) == false)
        #expect(drawn(&machine, at: .zero)?.ended.count == 1)
        #expect(machine.step(at: .zero) == .rest)
        #expect(machine.takeWaiters().isEmpty)
        machine.print(["x"])
        #expect(machine.begin() == true)
        #expect(machine.finish(8) == false)
        #expect(drawn(&machine, at: .zero)?.printed.count == 1)
        #expect(machine.step(at: .zero) == .rest)
        #expect(machine.takeWaiters() == [8])
    }
}
