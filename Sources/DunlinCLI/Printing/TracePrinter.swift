import Dunlin
import DunlinCommandLine

/// Prints a session's trace, and keeps its lines and the body in order.
actor TracePrinter {
    fileprivate typealias Order = TraceOrder<HTTPSession.TraceEvent.Line, CheckedContinuation<Void, Never>>

    private let output: Output
    private var hasEnded = false
    private var ending: CheckedContinuation<Void, Never>?
    private var order = Order()

    /// How long a body waits for a head that the trace has lost.
    private static let longestWait = Duration.seconds(1)

    init(_ output: Output) { self.output = output }

    /// Prints the trace to its end.
    func print(_ trace: AsyncStream<HTTPSession.TraceEvent>) async {
        for await event in trace {
            perform(order.take(event.lines, event.kind))
            perform(order.shown())
        }
        perform(order.giveUp())
        perform(order.release())
        hasEnded = true
        ending?.resume()
        ending = nil
    }

    /// Returns when all of the trace has been printed.
    func end() async {
        if !hasEnded { await withCheckedContinuation { ending = $0 } }
    }

    /// Returns when the heads of these hops have been printed. Until `endBody` nothing else is.
    func beginBody(after hops: [HTTP.Hop]) async {
        let heads = hops.count { $0.connection != 0 }
        async let _: Void = loseIt()
        await withCheckedContinuation { perform(order.beginBody(after: heads, $0)) }
    }

    func endBody() { perform(order.release()) }

    private func loseIt() async {
        do { try await Task.sleep(for: Self.longestWait) } catch { return }
        perform(order.giveUp())
    }

    private func perform(_ action: Order.Action) {
        switch action {
        case .none: break
        case .resume(let waiter): waiter.resume()
        case .show(let groups): for line in groups.joined() { output.remark(HeadText.trace(line)) }
        }
    }
}

extension HTTPSession.TraceEvent {
    fileprivate var kind: TracePrinter.Order.Kind {
        switch self {
        case .step(.responseHead, _), .step(.failed, _): .head
        case .step(.responseEnd, _), .step(.responseLeft, _): .end
        case .step, .lost: .other
        }
    }
}
