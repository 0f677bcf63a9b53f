internal import Synchronization

/// A session whose credential the running code gets anew: its authenticator leaves the code's requests alone, which
/// would wait for themselves. A task that the code leaves behind is like any other once it is over.
final class Refreshing: Sendable {
    @TaskLocal private static var present: [Refreshing] = []

    private let session: ObjectIdentifier
    /// Those around the request that the refresh is for: it may ask through another session, whose refresh asks here.
    private let outer: [Refreshing]
    private let isOver = Atomic<Bool>(false)

    init(_ core: SessionCore) {
        session = ObjectIdentifier(core)
        outer = Self.present
    }

    func run<Value: Sendable>(_ work: @Sendable () async throws -> Value) async rethrows -> Value {
        defer { isOver.store(true, ordering: .relaxed) }
        return try await Self.$present.withValue(outer + [self], operation: work)
    }

    static func includes(_ core: SessionCore) -> Bool {
        let session = ObjectIdentifier(core)
        return present.contains { $0.session == session && !$0.isOver.load(ordering: .relaxed) }
    }
}
