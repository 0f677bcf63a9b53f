internal import Synchronization

/// What the code that runs now is within: a hook is within its request, the reader of a stream within the stream's
/// scope, and with them everything that they call, start as a child task or ask for.
///
/// Code that waits for requests to end leaves out those it is within: they cannot end before that wait does. What is
/// over is forgotten; otherwise a task that goes on by itself would keep all that it ever came from.
package final class Enclosure: Sendable {
    package enum Subject: Hashable, Sendable {
        case request(HTTPSession.TaskID)
        case transfer(of: ObjectIdentifier)
        /// The hook of a session that is told that the session has ended.
        case invalidation(of: ObjectIdentifier)
    }

    /// The outermost first.
    @TaskLocal private static var current: [Enclosure] = []

    private let subject: Subject
    private let isOver = Atomic<Bool>(false)

    private init(_ subject: Subject) {
        self.subject = subject
    }

    /// Runs `operation` within `subject`, and within all that the caller is within.
    package static func enter<Value>(
        _ subject: Subject, isolation: isolated (any Actor)? = #isolation, _ operation: () async throws -> Value
    ) async rethrows -> Value {
        let own = Enclosure(subject)
        defer { own.isOver.store(true, ordering: .relaxed) }
        return try await $current.withValue(alive + [own]) { try await operation() }
    }

    private static var alive: [Enclosure] { current.filter { !$0.isOver.load(ordering: .relaxed) } }

    static func contains(_ subject: Subject) -> Bool { subjects.contains(subject) }

    /// Everything the caller is within.
    package static var subjects: Set<Subject> { Set(alive.map(\.subject)) }
}
