extension Enclosure {
    /// Whether the running code refreshes this session's credential.
    static func isRefreshing(_ core: SessionCore) -> Bool { contains(.refresh(of: ObjectIdentifier(core))) }

    /// Whether the running code is this session's authentication handler.
    static func isAnswering(_ core: SessionCore) -> Bool { contains(.challenge(of: ObjectIdentifier(core))) }

    /// Whether requests of the session wait for the running code: its own requests then wait for no turn.
    static func isAwaited(by core: SessionCore) -> Bool {
        contains { $0.isAwaited(by: core) }
    }
}

extension Enclosure.Subject {
    fileprivate func isAwaited(by core: SessionCore) -> Bool {
        switch self {
        case .refresh(let other), .challenge(let other), .interceptor(let other, _, _): other == ObjectIdentifier(core)
        case .request, .transfer, .shutDown, .picture, .turns: false
        }
    }
}

extension HTTPSession {
    /// The enclosures of the running code because of which a request that it awaits waits for no turn: requests that
    /// have theirs, and code of the session's that requests wait for, which such a request does not reach again.
    ///
    /// Others may wait for this code, so it must not wait for anything that is done for others.
    package var awaitedEnclosures: Set<Enclosure.Subject> {
        let subjects = Enclosure.subjects
        if subjects.isEmpty { return [] }
        let holders = core.queue?.holders(among: subjects) ?? []
        return holders.union(subjects.filter { $0.isAwaited(by: core) })
    }
}
