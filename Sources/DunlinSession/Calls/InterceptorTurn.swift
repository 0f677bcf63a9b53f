internal import Synchronization

/// One passage of a request through one interceptor: counts what it sends, by the rules of `InterceptorMachine`.
///
/// The interceptor's code runs within it. A request that the code makes through its own session does not come to the
/// same interceptor again.
final class InterceptorTurn: Sendable {
    @TaskLocal static var present: [InterceptorTurn] = []

    private let session: ObjectIdentifier
    private let place: HTTPSession.Interception.Place
    private let index: Int
    private let machine = Mutex(InterceptorMachine())
    /// What `next` threw last.
    private let thrown = Mutex<(any Error)?>(nil)
    private let isOver = Atomic<Bool>(false)

    init(_ core: SessionCore, _ place: HTTPSession.Interception.Place, _ index: Int) {
        session = ObjectIdentifier(core)
        (self.place, self.index) = (place, index)
    }

    /// Nil if it may send; who succeeds calls `answered` or `failed`.
    func begin() -> InterceptorMachine.Refusal? { machine.withLock { $0.begin() } }

    func answered() { machine.withLock { $0.answered() } }

    func failed(_ error: any Error) {
        machine.withLock { $0.answered() }
        thrown.withLock { $0 = error }
    }

    /// Whether it was called.
    var hasSent: Bool { machine.withLock { $0.hasSent } }

    /// Whether `next` threw this error. Errors cannot be compared; one of the same type that says the same is the same.
    func hasThrown(_ error: any Error) -> Bool {
        guard let thrown = thrown.withLock({ $0 }) else { return false }
        return type(of: thrown) == type(of: error) && "\(thrown)" == "\(error)"
    }

    func end() {
        machine.withLock { $0.end() }
        isOver.store(true, ordering: .relaxed)
    }

    /// Whether the running code is an interceptor's of the session.
    static func isWithin(_ core: SessionCore) -> Bool {
        let session = ObjectIdentifier(core)
        return present.contains { $0.session == session && !$0.isOver.load(ordering: .relaxed) }
    }

    /// Whether the running code is this interceptor's own. A task that the code left behind is like any other.
    static func isWithin(_ core: SessionCore, _ place: HTTPSession.Interception.Place, _ index: Int) -> Bool {
        let session = ObjectIdentifier(core)
        return present.contains {
            $0.session == session && $0.place == place && $0.index == index && !$0.isOver.load(ordering: .relaxed)
        }
    }
}
