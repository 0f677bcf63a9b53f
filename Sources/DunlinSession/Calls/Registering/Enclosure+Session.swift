extension Enclosure {
    /// Whether the running code gets this session's credential anew.
    static func isRefreshing(_ core: SessionCore) -> Bool { contains(.refresh(of: ObjectIdentifier(core))) }

    /// Whether the running code is this session's hook that answers challenges.
    static func isAnswering(_ core: SessionCore) -> Bool { contains(.challenge(of: ObjectIdentifier(core))) }

    /// Whether the running code is such that requests of the session wait for it: what it requests itself waits for no
    /// turn.
    static func isAwaited(by core: SessionCore) -> Bool {
        let session = ObjectIdentifier(core)
        return contains {
            switch $0 {
            case .refresh(let other), .challenge(let other), .interceptor(let other, _, _): other == session
            case .request, .transfer, .invalidation: false
            }
        }
    }
}
