internal import Synchronization

/// Whoever does things for others that these wait for: a session, an image downloader, or a queue of several sessions.
///
/// Owners stand in an order: sessions as they were made, and an image downloader directly before its session, since its
/// downloads wait for that. A queue is earlier than the sessions that share it. Code within something of one owner
/// waits for nothing that is done for others by that owner or by one earlier in the order: no turn, no connection, and
/// no exchange or picture under way. So every wait leads to a later owner, and none leads back.
package struct Owner: Hashable, Comparable, Sendable {
    private static let last = Atomic<UInt64>(0)

    private let number: UInt64

    private init(number: UInt64) {
        self.number = number
    }

    /// A session's, later than all that there are.
    static func session() -> Owner {
        Owner(number: last.wrappingAdd(2, ordering: .relaxed).newValue)
    }

    /// A queue's that sessions are to share which are made later.
    static func shared() -> Owner { session() }

    /// An image downloader's, for this session's.
    package var ofDownloader: Owner { Owner(number: number - 1) }

    package static func < (one: Owner, other: Owner) -> Bool { one.number < other.number }
}

extension Owner {
    /// Whether the running code may wait for what this owner does for others. A `request` is not within itself.
    package func mayBeAwaited(by request: HTTPSession.TaskID? = nil) -> Bool {
        !Enclosure.contains { each in
            guard let around = each.owner, around >= self else { return false }
            return request.map { each.subject != .request($0) } ?? true
        }
    }

    /// Whether the running code is a refresh, handler or interceptor of a session that comes after this owner.
    var precedesRunningCode: Bool {
        Enclosure.contains { each in each.subject.isCodeOfSession && each.owner.map { $0 >= self } ?? true }
    }

    /// Whether the running code may wait for an answer that others have asked the session's code for, a refresh of its
    /// credential or a handler's: a hook may, but not code that itself answers for others.
    var mayBeAwaitedForAnswers: Bool {
        !Enclosure.contains { each in
            guard let around = each.owner else { return false }
            return around > self || around == self && each.subject.isShared
        }
    }

    /// Whether the running code may wait for the end of this session's refreshes: code that a refresh waits for waits
    /// only for those of later sessions.
    var mayBeAwaitedByRefreshes: Bool {
        !Enclosure.contains { each in
            guard case .refresh = each.subject else { return false }
            return each.owner.map { $0 >= self } ?? true
        }
    }
}

extension Enclosure.Subject {
    /// Whether this is a session's own code, which its requests do not reach again.
    fileprivate var isCodeOfSession: Bool {
        switch self {
        case .refresh, .challenge, .interceptor: true
        case .request, .transfer, .shutDown, .picture, .code: false
        }
    }

    /// Whether the code answers for other requests too.
    fileprivate var isShared: Bool {
        switch self {
        case .refresh, .challenge: true
        case .request, .transfer, .shutDown, .interceptor, .picture, .code: false
        }
    }
}
