internal import DunlinRules
internal import Synchronization

/// A reader of a session's trace: what it wants to see, and what it has not read yet.
final class TraceReader: Sendable {
    typealias Machine = TraceMachine<HTTPSession.TraceEvent, CheckedContinuation<HTTPSession.TraceEvent?, Never>>

    /// How many of the first bytes it wants of what is written and read; nil for none.
    let wantedBytes: Int?
    /// The tag that requests must have; nil for all requests.
    let tag: String?
    /// Whether it gets the bytes of heads and trailers too, with their secrets.
    let showsSecrets: Bool
    private let machine: Mutex<Machine>

    init(wantedBytes: Int?, capacity: Int, tag: String? = nil, showsSecrets: Bool = false) {
        self.tag = tag
        self.showsSecrets = showsSecrets
        self.wantedBytes = wantedBytes
        machine = Mutex(Machine(capacity: capacity))
    }

    /// Delivers an event. Must not be called under a lock.
    func tell(_ event: HTTPSession.TraceEvent) {
        perform(machine.withLock { $0.add(event) })
    }

    func end() {
        perform(machine.withLock { $0.end() })
    }

    /// The next event; nil at the end, and if the awaiting task is cancelled.
    func next() async -> HTTPSession.TraceEvent? {
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                perform(machine.withLock { $0.next(continuation) })
            }
        } onCancel: {
            end()
        }
    }

    private func perform(_ action: Machine.Action) {
        guard case .resume(let waiter, let item) = action else { return }
        switch item {
        case .element(let event): waiter.resume(returning: event)
        case .lost(let count): waiter.resume(returning: .lost(count))
        case nil: waiter.resume(returning: nil)
        }
    }
}

/// The readers of a session's trace.
struct TraceReaders: Sendable {
    private var readers: [UInt64: TraceReader] = [:]
    private var last: UInt64 = 0

    var all: [TraceReader] { Array(readers.values) }

    mutating func add(_ reader: TraceReader) -> UInt64 {
        last += 1
        readers[last] = reader
        return last
    }

    /// Removes a reader. Returns false if it was removed before.
    mutating func remove(_ number: UInt64) -> Bool { readers.removeValue(forKey: number) != nil }

    /// Removes and returns all readers.
    mutating func removeAll() -> [TraceReader] {
        defer { readers = [:] }
        return all
    }
}
