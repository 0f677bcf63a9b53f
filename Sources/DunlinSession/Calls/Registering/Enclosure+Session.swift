extension SessionCore {
    /// Whether the running code refreshes the session's credential.
    var isRefreshing: Bool { Enclosure.contains(.refresh(of: ObjectIdentifier(self))) }

    /// Whether the running code is the session's authentication handler.
    var isAnswering: Bool { Enclosure.contains(.challenge(of: ObjectIdentifier(self))) }

    /// Whether the running code is the session's own refresh, handler or interceptor. Its requests do not reach that
    /// code again, so they are sent differently.
    var runsOwnCode: Bool {
        Enclosure.contains { each in
            switch each.subject {
            case .refresh(let other), .challenge(let other), .interceptor(let other, _, _):
                other == ObjectIdentifier(self)
            case .request, .transfer, .shutDown, .picture, .code: false
            }
        }
    }
}

extension HTTPSession {
    package var owner: Owner { core.owner }

    /// Whether the running code is the session's own refresh, handler or interceptor.
    package var runsOwnCode: Bool { core.runsOwnCode }
}
