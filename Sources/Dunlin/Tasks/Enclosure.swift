internal import Synchronization

/// What the code that runs now is a part of: a hook is within its request, a stream's scope within its own, and within
/// them too is whatever they call, start as a child or ask for.
///
/// Whoever waits there for requests to end leaves these out: they cannot end before that wait has.
final class Enclosure: Sendable {
    enum Subject: Hashable, Sendable {
        case request(TaskID)
        case transfer(of: ObjectIdentifier)
        /// A session tells its hook that it has ended.
        case invalidation(of: ObjectIdentifier)
    }

    @TaskLocal private static var current: Enclosure?

    private let subject: Subject
    private let outer: Enclosure?

    private init(_ subject: Subject, in outer: Enclosure?) {
        self.subject = subject
        self.outer = outer
    }

    /// Runs `operation` as a part of something, and of all that encloses the caller.
    static func enter<Value>(
        _ subject: Subject, isolation: isolated (any Actor)? = #isolation, _ operation: () async throws -> Value
    ) async rethrows -> Value {
        try await $current.withValue(Enclosure(subject, in: current)) { try await operation() }
    }

    static func contains(_ subject: Subject) -> Bool { subjects.contains(subject) }

    /// All that encloses the caller.
    static var subjects: Set<Subject> {
        guard var each = current else { return [] }
        var subjects: Set = [each.subject]
        while let outer = each.outer {
            subjects.insert(outer.subject)
            each = outer
        }
        return subjects
    }
}
