internal import Synchronization

/// Something that the running code is within: a hook is within its request, the reader of a stream within the stream's
/// scope, an authenticator's code within its refresh, and so is everything that these call, start as a child task or
/// request.
///
/// It prevents anything from waiting for itself. Code that waits for requests to end excludes those that it is within,
/// which cannot end before that wait. Requests of such code do not wait for what may wait for it, by the order of
/// owners, and requests of a refresh, handler or interceptor do not reach the same code again.
///
/// An enclosure that is over is forgotten: a task that such code left behind is like any other, and does not retain
/// what it came from.
package final class Enclosure: Sendable {
    package enum Subject: Hashable, Sendable {
        case request(HTTPSession.TaskID)
        /// A transfer of a journal, by the transfer or the journal.
        case transfer(of: ObjectIdentifier)
        /// The hook that is told the end of a session.
        case shutDown(of: ObjectIdentifier)
        /// Code that refreshes a session's credential.
        case refresh(of: ObjectIdentifier)
        /// A session's authentication handler.
        case challenge(of: ObjectIdentifier)
        /// A session's interceptor, by its place and index.
        case interceptor(of: ObjectIdentifier, HTTPSession.Interception.Scope, index: Int)
        /// Other code of a session. Its requests reach all of the session's code.
        case code
        /// A download of an image downloader: its filters, and all code that its request runs.
        case picture(of: ObjectIdentifier, UInt64)
    }

    /// What code is within, for a task that inherits nothing and that the code may wait for.
    package struct Surroundings: Sendable {
        fileprivate let enclosures: [Enclosure]

        /// Runs `operation` within them, apart from those that are over by then.
        package func within<Value>(
            isolation: isolated (any Actor)? = #isolation, _ operation: () async throws -> Value
        ) async rethrows -> Value {
            try await $current.withValue(enclosures.filter { !$0.isOver.load(ordering: .relaxed) }) {
                try await operation()
            }
        }
    }

    /// The current enclosures, the outermost first.
    @TaskLocal private static var current: [Enclosure] = []

    let subject: Subject
    /// Who does for others what this is; nil if nobody waits for it.
    let owner: Owner?
    /// Those among which a request is; nil for anything else.
    private weak let requests: (any EnclosingRequests)?
    private let isOver = Atomic<Bool>(false)

    private init(_ subject: Subject, of owner: Owner?, among requests: (any EnclosingRequests)?) {
        (self.subject, self.owner, self.requests) = (subject, owner, requests)
    }

    /// Runs `operation` within `subject` and everything that the caller is within.
    package static func enter<Value>(
        _ subject: Subject, of owner: Owner?, isolation: isolated (any Actor)? = #isolation,
        _ operation: () async throws -> Value
    ) async rethrows -> Value {
        try await enter(subject, of: owner, around: alive, isolation: isolation, operation)
    }

    /// Runs `operation` within `subject`, which may be among these requests, and the enclosures `around` it, for a task
    /// that inherits none.
    static func enter<Value>(
        _ subject: Subject, of owner: Owner?, among requests: (any EnclosingRequests)? = nil, around: [Enclosure],
        isolation: isolated (any Actor)? = #isolation, _ operation: () async throws -> Value
    ) async rethrows -> Value {
        let own = Enclosure(subject, of: owner, among: requests)
        defer { own.isOver.store(true, ordering: .relaxed) }
        return try await $current.withValue(around + [own]) { try await operation() }
    }

    /// Runs `operation` within `around` and everything that the caller is within, but not within `subject`. The caller
    /// may be a task that has inherited nothing.
    static func leave<Value>(
        _ subject: Subject, around: [Enclosure], isolation: isolated (any Actor)? = #isolation,
        _ operation: () async throws -> Value
    ) async rethrows -> Value {
        let own = alive.filter { each in each.subject != subject && !around.contains { $0 === each } }
        let outer = around.filter { !$0.isOver.load(ordering: .relaxed) }
        return try await $current.withValue(outer + own) { try await operation() }
    }

    /// The same for a refresh, whose requests are its own: they reach the interceptor or handler that began it. It
    /// lasts as long as the refresh, though that code may be over before.
    var withoutName: Enclosure {
        switch subject {
        case .interceptor, .challenge: Enclosure(.code, of: owner, among: nil)
        case .request, .transfer, .shutDown, .refresh, .picture, .code: self
        }
    }

    /// The enclosures that the caller is within, the outermost first.
    static var alive: [Enclosure] { current.filter { !$0.isOver.load(ordering: .relaxed) } }

    package static var surroundings: Surroundings { Surroundings(enclosures: alive) }

    static func contains(_ subject: Subject) -> Bool { contains { $0.subject == subject } }

    static func contains(where isMeant: (Enclosure) -> Bool) -> Bool {
        current.contains { isMeant($0) && !$0.isOver.load(ordering: .relaxed) }
    }

    /// Everything that the caller is within.
    package static var subjects: Set<Subject> { Set(alive.map(\.subject)) }
}

// MARK: - Waiting for requests

/// The requests of a session, as those see them who wait within some of them.
protocol EnclosingRequests: AnyObject, Sendable {
    /// Tells everybody who waits within a request not to wait for these. Returns what to `readmit` with.
    func leaveOut(_ subjects: Set<Enclosure.Subject>) async -> [UInt64]

    func readmit(_ leftOut: [UInt64]) async
}

extension Enclosure {
    /// Runs `operation`, which waits for requests of any session to end. `isWithin`: whether the caller is within a
    /// request, or within a refresh, whose end is waited for as a request's is.
    ///
    /// Meanwhile nobody who is within a request waits for a request that the caller is within. So a request whose code
    /// waits is waited for only from outside of all requests, and no wait leads back, however many sessions are on the
    /// way.
    static func waiting<Value>(
        isolation: isolated (any Actor)? = #isolation, _ operation: (_ isWithin: Bool) async -> Value
    ) async -> Value {
        let (alive, subjects) = (alive, subjects)
        var leftOut: [(requests: any EnclosingRequests, numbers: [UInt64])] = []
        for case let requests? in alive.map(\.requests) where !leftOut.contains(where: { $0.requests === requests }) {
            leftOut.append((requests, await requests.leaveOut(subjects)))
        }
        let isInRefresh = alive.contains { if case .refresh = $0.subject { true } else { false } }
        let value = await operation(!leftOut.isEmpty || isInRefresh)
        for (requests, numbers) in leftOut { await requests.readmit(numbers) }
        return value
    }
}
