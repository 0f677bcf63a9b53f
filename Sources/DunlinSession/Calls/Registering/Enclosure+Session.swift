extension Enclosure {
    /// Whether the running code refreshes this session's credential.
    static func isRefreshing(_ core: SessionCore) -> Bool { contains(.refresh(of: ObjectIdentifier(core))) }

    /// Whether the running code is this session's authentication handler.
    static func isAnswering(_ core: SessionCore) -> Bool { contains(.challenge(of: ObjectIdentifier(core))) }

    /// Whether the running code is the session's own, which its requests run and then do not reach again: they are sent
    /// differently from it.
    static func isWithinCode(of core: SessionCore) -> Bool {
        contains { each in
            switch each.subject {
            case .refresh(let other), .challenge(let other), .interceptor(let other, _, _):
                other == ObjectIdentifier(core)
            case .request, .transfer, .shutDown, .picture: false
            }
        }
    }
}

extension HTTPSession {
    package var owner: Owner { core.owner }

    /// Whether the running code is the session's own refresh, handler or interceptor.
    package var runsOwnCode: Bool { Enclosure.isWithinCode(of: core) }
}
