internal import Synchronization

/// A session whose hook the running code is: what it requests through the session waits in no queue, whose places those
/// may have that wait for the hook, and does not ask the hook. A task that the hook leaves behind is like any other
/// once the hook has answered.
final class ChallengeTurn: Sendable {
    @TaskLocal private static var present: [ChallengeTurn] = []

    private let session: ObjectIdentifier
    private let isOver = Atomic<Bool>(false)

    init(_ core: SessionCore) {
        session = ObjectIdentifier(core)
    }

    func run<Value: Sendable>(_ work: @Sendable () async throws -> Value) async rethrows -> Value {
        defer { isOver.store(true, ordering: .relaxed) }
        return try await Self.$present.withValue(Self.present + [self], operation: work)
    }

    static func isWithin(_ core: SessionCore) -> Bool {
        let session = ObjectIdentifier(core)
        return present.contains { $0.session == session && !$0.isOver.load(ordering: .relaxed) }
    }
}
