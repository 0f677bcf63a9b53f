import CoreMetrics
import Synchronization

/// A factory that is as strict as exporters for Prometheus may be: one name has one kind and always the same labels,
/// and who asks for the same labels gets the same handler until it is destroyed. It notes what breaks that.
final class StrictFactory: MetricsFactory {
    final class Handler: CounterHandler, MeterHandler, RecorderHandler, TimerHandler {
        let key: [String]
        private let sum = Atomic(0)

        init(_ key: [String]) {
            self.key = key
        }

        var total: Int { sum.load(ordering: .relaxed) }
        func increment(by amount: Int64) { sum.add(Int(amount), ordering: .relaxed) }
        func increment(by amount: Double) { sum.add(Int(amount), ordering: .relaxed) }
        func decrement(by amount: Double) { sum.subtract(Int(amount), ordering: .relaxed) }
        func set(_ value: Int64) { sum.store(Int(value), ordering: .relaxed) }
        func set(_ value: Double) { sum.store(Int(value), ordering: .relaxed) }
        func record(_ value: Int64) { sum.add(1, ordering: .relaxed) }
        func record(_ value: Double) { sum.add(1, ordering: .relaxed) }
        func recordNanoseconds(_ duration: Int64) { sum.add(1, ordering: .relaxed) }
        func reset() {}
    }

    struct State {
        var live: [[String]: Handler] = [:]
        var shapes: [String: [String]] = [:]
        var most = 0
        var destroyed = 0
        var problems: [String] = []
    }

    private let state = Mutex(State())

    var most: Int { state.withLock { $0.most } }
    var live: [Handler] { state.withLock { Array($0.live.values) } }
    var destroyed: Int { state.withLock { $0.destroyed } }
    var problems: [String] { state.withLock { $0.problems } }

    private func make(_ kind: String, _ label: String, _ dimensions: [(String, String)]) -> Handler {
        state.withLock { state in
            let shape = [kind] + dimensions.map(\.0)
            if state.shapes[label, default: shape] != shape { state.problems.append("\(label): \(shape)") }
            state.shapes[label] = shape
            let key = [label] + dimensions.map(\.1)
            if let handler = state.live[key] { return handler }
            let handler = Handler(key)
            state.live[key] = handler
            state.most = max(state.most, state.live.count)
            return handler
        }
    }

    private func destroy(_ handler: AnyObject) {
        state.withLock { state in
            guard let handler = handler as? Handler, state.live[handler.key] === handler else {
                state.problems.append("destroyed twice")
                return
            }
            state.live[handler.key] = nil
            state.destroyed += 1
        }
    }

    func makeCounter(label: String, dimensions: [(String, String)]) -> any CounterHandler {
        make("counter", label, dimensions)
    }

    func makeMeter(label: String, dimensions: [(String, String)]) -> any MeterHandler {
        make("meter", label, dimensions)
    }

    func makeRecorder(label: String, dimensions: [(String, String)], aggregate: Bool) -> any RecorderHandler {
        make("recorder", label, dimensions)
    }

    func makeTimer(label: String, dimensions: [(String, String)]) -> any TimerHandler {
        make("timer", label, dimensions)
    }

    func destroyCounter(_ handler: any CounterHandler) { destroy(handler) }
    func destroyMeter(_ handler: any MeterHandler) { destroy(handler) }
    func destroyRecorder(_ handler: any RecorderHandler) { destroy(handler) }
    func destroyTimer(_ handler: any TimerHandler) { destroy(handler) }
}
