import DunlinImages
import Synchronization

/// Pressure that a test makes up.
final class ToldPressure: MemoryPressureSource {
    private let state = Mutex((continuations: [AsyncStream<MemoryPressure>.Continuation](), begun: 0, ended: 0))

    var begun: Int { state.withLock { $0.begun } }
    var ended: Int { state.withLock { $0.ended } }

    func observe() -> AsyncStream<MemoryPressure> {
        let (stream, continuation) = AsyncStream<MemoryPressure>.makeStream()
        continuation.onTermination = { _ in self.state.withLock { $0.ended += 1 } }
        state.withLock { state in
            state.begun += 1
            state.continuations.append(continuation)
        }
        return stream
    }

    func tell(_ pressure: MemoryPressure) {
        for continuation in state.withLock({ $0.continuations }) { continuation.yield(pressure) }
    }
}
