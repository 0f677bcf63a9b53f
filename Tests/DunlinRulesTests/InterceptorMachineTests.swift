import Testing

@testable import DunlinRules

@Suite struct `What an interceptor may send` {
    private enum Step { case begin, answered, end }

    private static let late = InterceptorMachine.Refusal.late
    private static let atOnce = InterceptorMachine.Refusal.atOnce

    private static let cases: [(steps: [Step], refusal: InterceptorMachine.Refusal?)] = [
        ([.begin], nil), ([.begin, .answered, .begin], nil), ([.begin, .begin], atOnce), ([.end, .begin], late),
        ([.begin, .answered, .end, .begin], late), ([.begin, .end, .begin], late),
        ([.begin, .end, .answered, .begin], late), ([.answered, .begin, .begin], atOnce),
    ]

    @Test(arguments: cases.indices) func `an interceptor sends one request at a time, and none once it has returned`(
        index: Int
    ) {
        let (steps, expected) = Self.cases[index]
        var machine = InterceptorMachine()
        var last: InterceptorMachine.Refusal?
        for step in steps {
            switch step {
            case .begin: last = machine.begin()
            case .answered: machine.answered()
            case .end: machine.end()
            }
        }
        #expect(last == expected)
    }

    @Test func `an interceptor sends only up to a limit`() {
        var machine = InterceptorMachine()
        for _ in 0..<InterceptorMachine.mostSends {
            #expect(machine.begin() == nil)
            machine.answered()
        }
        #expect(machine.begin() == .tooOften(InterceptorMachine.mostSends))
        #expect("\(machine.begin(), default: "")" == "called `next` more than 100 times for one request")
    }
}
