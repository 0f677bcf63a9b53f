import Testing

@testable import DunlinRules

@Suite struct `One question at a time` {
    private typealias Machine = QuestionMachine<String, String, Int>

    private static func word(_ action: Machine.Action) -> String {
        switch action {
        case .ask(let number): "ask \(number)"
        case .wait(let number): "wait \(number)"
        case .askAlone: "ask alone"
        case .take(let credential, let number): "take \(credential) \(number)"
        }
    }

    @Test func `the first one asks about a space, and the others wait for what comes of it`() {
        var machine = Machine()
        #expect(Self.word(machine.came("a", 10)) == "ask 1")
        #expect(Self.word(machine.came("a", 11)) == "wait 2")
        #expect(Self.word(machine.came("b", 12)) == "ask 3")
        #expect(Self.word(machine.came("a", 13)) == "wait 4")
        machine.left("a", 2)
        #expect(machine.answered("a", 1, "pw") == [13])
        #expect(Self.word(machine.came("b", 14)) == "wait 5")
    }

    @Test func `who may not wait asks alone, and changes nothing for the others`() {
        var machine = Machine()
        #expect(Self.word(machine.came("a", 10, mayWait: false)) == "ask 1")
        #expect(Self.word(machine.came("a", 11, mayWait: false)) == "ask alone")
        #expect(Self.word(machine.came("a", 12)) == "wait 3")
        #expect(machine.answered("a", 1, "pw") == [12])
        #expect(Self.word(machine.came("a", 13, mayWait: false)) == "take pw 1")
    }

    @Test func `a given credential is tried by others until a server has judged it`() {
        var machine = Machine()
        _ = machine.came("a", 10)
        _ = machine.answered("a", 1, "pw")
        #expect(Self.word(machine.came("a", 11)) == "take pw 1")
        machine.judged("a", 7)
        #expect(Self.word(machine.came("a", 12)) == "take pw 1")
        machine.judged("a", 1)
        #expect(Self.word(machine.came("a", 13)) == "ask 4")
    }

    @Test func `a question that brought no credential is asked again by whoever comes next`() {
        var machine = Machine()
        _ = machine.came("a", 10)
        _ = machine.came("a", 11)
        #expect(machine.answered("a", 1, nil) == [11])
        #expect(Self.word(machine.came("a", 11)) == "ask 3")
        #expect(machine.answered("a", 1, "late") == [])
    }

    @Test func `unjudged credentials are kept for a limited number of spaces, and no question is lost`() {
        var machine = Machine()
        _ = machine.came("open", 0)
        for number in 0..<500 {
            guard case .ask(let question) = machine.came("\(number)", 0) else { continue }
            _ = machine.answered("\(number)", question, "pw")
        }
        let kept = (0..<500).filter { if case .take = machine.came("\($0)", 0) { true } else { false } }
        #expect(!kept.isEmpty && kept.count <= 100 && kept.last == 499)
        guard case .wait = machine.came("open", 1) else {
            Issue.record("the question was forgotten")
            return
        }
    }
}
