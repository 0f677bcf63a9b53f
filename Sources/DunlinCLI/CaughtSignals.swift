import Glibc
import Synchronization

/// Signals that are only remembered for a while, instead of having their usual effect. One value exists at a time.
struct CaughtSignals: ~Copyable {
    /// The first that came; 0 for none. The function that the kernel calls can reach nothing else.
    private static let received = Atomic<Int32>(0)

    private let before: [(number: Int32, action: sigaction)]

    init(_ numbers: [Int32]) {
        Self.received.store(0, ordering: .sequentiallyConsistent)
        var caught = sigaction()
        caught.__sigaction_handler.sa_handler = { number in
            _ = CaughtSignals.received.compareExchange(expected: 0, desired: number, ordering: .sequentiallyConsistent)
        }
        before = numbers.map { number in
            var before = sigaction()
            sigaction(number, &caught, &before)
            return (number, before)
        }
    }

    var first: Int32? {
        let number = Self.received.load(ordering: .sequentiallyConsistent)
        return number == 0 ? nil : number
    }

    /// From now on they have the effect that they had before.
    func end() {
        for (number, action) in before {
            var action = action
            sigaction(number, &action, nil)
        }
    }
}
