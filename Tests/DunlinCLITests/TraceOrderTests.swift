import Testing

@testable import DunlinCLI

/// A trace and a body that are read as one.
@Suite struct TraceOrderTests {
    /// What is printed, in order: lines of the trace, and the body's pieces between `(` and `)`.
    private static func printed(_ steps: [String], heads: Int) -> String {
        var order = TraceOrder<String, Int>()
        var said: [String] = []
        func perform(_ action: TraceOrder<String, Int>.Action) {
            switch action {
            case .none: break
            case .resume: said.append("(")
            case .show(let groups): said += groups.joined()
            }
        }
        for step in steps {
            switch step {
            case "begin": perform(order.beginBody(after: heads, 0))
            case "lose": perform(order.giveUp())
            case "end":
                said.append(")")
                perform(order.release())
            case "over":
                perform(order.giveUp())
                perform(order.release())
            default:
                perform(order.take([step], step.hasPrefix("head") ? .head : step.hasPrefix("whole") ? .end : .other))
                perform(order.shown())
            }
        }
        return said.joined(separator: " ")
    }

    @Test(
        arguments: [
            // The trace is ahead, behind, and far behind.
            (["sent", "head", "whole", "begin", "end", "over"], 1, "sent head ( ) whole"),
            (["begin", "sent", "head", "whole", "end", "over"], 1, "sent head ( ) whole"),
            (["sent", "head", "begin", "end", "whole", "over"], 1, "sent head ( ) whole"),
            // A redirect's end is before what follows.
            (
                ["head1", "whole1", "sent2", "begin", "head2", "whole2", "end", "over"], 2,
                "head1 whole1 sent2 head2 ( ) whole2"
            ),
            (["begin", "head1", "whole1", "head2", "more", "end"], 2, "head1 whole1 head2 ( ) more"),
            // A response that went over no wire, and a head that was lost.
            (["begin", "end", "over"], 0, "( )"), (["begin", "lose", "late", "end"], 1, "( ) late"),
            (["begin", "over"], 1, "("), (["head", "whole", "over"], 1, "head whole"),
        ] as [([String], Int, String)])
    func `heads come before the body, and the rest after it`(steps: [String], heads: Int, expected: String) {
        #expect(Self.printed(steps, heads: heads) == expected)
    }
}
