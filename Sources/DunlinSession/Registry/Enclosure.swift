internal import Synchronization

/// What the code that runs now is a part of: a hook is within its request, a stream's scope within its own, and within
/// them too is whatever they call, start as a child or ask for.
///
/// Whoever waits there for requests to end leaves these out: they cannot end before that wait has. What is over is
/// forgotten: a task that goes on by itself would otherwise keep all that it ever came from.
package final class Enclosure: Sendable {
    package enum Subject: Hashable, Sendable {
        case request(HTTPSession.TaskID)
        case transfer(of: ObjectIdentifier)
        /// A session tells its hook that it has ended.
        case invalidation(of: ObjectIdentifier)
    }

    /// The outermost first.
    @TaskLocal private static var current: [Enclosure] = []

    private let subject: Subject
    private let isOver = Atomic<Bool>(false)

    private init(_ subject: Subject) {
        self.subject = subject
    }

    /// Runs `operation` as a part of something, and of all that encloses the caller.
    package static func enter<Value>(
        _ subject: Subject, isolation: isolated (any Actor)? = #isolation, _ operation: () async throws -> Value
    ) async rethrows -> Value {
        let own = Enclosure(subject)
        defer { own.isOver.store(true, ordering: .relaxed) }
        return try await $current.withValue(alive + [own]) { try await operation() }
    }

    private static var alive: [Enclosure] { current.filter { !$0.isOver.load(ordering: .relaxed) } }

    static func contains(_ subject: Subject) -> Bool { subjects.contains(subject) }

    /// All that encloses the caller.
    package static var subjects: Set<Subject> { Set(alive.map(\.subject)) }
}
