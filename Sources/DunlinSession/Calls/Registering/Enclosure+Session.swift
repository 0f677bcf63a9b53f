extension Enclosure {
    /// Whether the running code refreshes this session's credential.
    static func isRefreshing(_ core: SessionCore) -> Bool { contains(.refresh(of: ObjectIdentifier(core))) }

    /// Whether the running code is this session's authentication handler.
    static func isAnswering(_ core: SessionCore) -> Bool { contains(.challenge(of: ObjectIdentifier(core))) }

    /// Whether requests of the session wait for the running code: its own requests then wait for no turn.
    static func isAwaited(by core: SessionCore) -> Bool {
        let session = ObjectIdentifier(core)
        return contains {
            switch $0 {
            case .refresh(let other), .challenge(let other), .interceptor(let other, _, _): other == session
            case .request, .transfer, .shutDown: false
            }
        }
    }
}
