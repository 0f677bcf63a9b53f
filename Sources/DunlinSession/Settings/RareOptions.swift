internal import DunlinTransport
internal import FoundationEssentials

/// The options that few requests set. An object, so that options without one stay small.
@usableFromInline final class RareOptions: Sendable {
    /// The request's own proxy, or none.
    struct OwnProxy: Sendable {
        let choice: HTTPSession.PerRequest<HTTPSession.Proxy>
        /// The chooser, read when the option is set. An unusable setting throws with each request.
        let chooser: ConnectionRules.ProxyChooser?

        init?(_ choice: HTTPSession.PerRequest<HTTPSession.Proxy>) {
            if choice.isSession { return nil }
            self.choice = choice
            do {
                chooser = try choice.own?.chooser(ProcessInfo.processInfo.environment, .invalidRequest)
            } catch {
                chooser = { _ in throw error }
            }
        }
    }

    /// A value that is compared only by its presence, such as a closure.
    @propertyWrapper struct Presence<Value: Sendable>: Sendable, Equatable {
        var wrappedValue: Value?

        static func == (one: Self, other: Self) -> Bool { (one.wrappedValue == nil) == (other.wrappedValue == nil) }
    }

    let values: Values
    /// Whether one of the options makes the request an observed one.
    let isObserved: Bool

    /// Creates options; nil if none is set.
    init?(_ values: Values) {
        if values == Values() { return nil }
        self.values = values
        isObserved = values.hooks?.isSet == true || !values.startsAfter.isEmpty || values.begun != nil
    }

    /// Adds these options to a head; `own` are the fields that override them.
    func complete(_ head: inout RequestHead, _ own: Fields, _ basic: BasicRule) throws {
        if let problem = values.retry.own?.problem { throw NetworkError(.invalidRequest, "retry.\(problem)") }
        head.origin = try routed(head.origin)
        if own.contains("authorization") { return }
        func checkBasic(_ head: RequestHead) throws {
            try basic.under(values.connectionRules(instead: basic.connectionRules)).check(head)
        }
        switch values.credentials {
        case .session:
            // The session's credentials were judged by the session's way.
            let isBasic = values.proxy != nil && head.fields["authorization"]?.hasPrefix("Basic ") == true
            if isBasic { try checkBasic(head) }
        case .none: head.fields.remove("Authorization")
        case .value(let credentials):
            if credentials.isBasic { try checkBasic(head) }
            head.fields.authorize(try credentials.authorization(.invalidRequest))
        }
    }

    /// The origin with the request's own route, if it has one.
    func routed(_ origin: HTTP.Origin) throws -> HTTP.Origin {
        let (sockets, interfaces) = (values.sockets, values.interfaces)
        if let problem = sockets.own?.problem { throw NetworkError(.invalidRequest, "sockets.\(problem)") }
        if let problem = values.guard.own?.problem { throw NetworkError(.invalidRequest, "\(problem)") }
        let address =
            try Routes(values.hostOverrides, .invalidRequest).address(for: origin) ?? origin.route?.address
        if address == origin.route?.address, sockets.isSession, interfaces.isSession { return origin }
        // In a route nil stands for the session's; none is what a session has that says nothing.
        let route = HTTP.Route(
            address: address, sockets: sockets.isSession ? origin.route?.sockets : sockets.own ?? HTTP.SocketOptions(),
            interfaces: interfaces.isSession ? origin.route?.interfaces : interfaces.own ?? .any)
        return origin.over(route)
    }
}

extension RareOptions.Values {
    /// The way for a command; nil for the session's.
    var curl: CurlSettings.ProxyUse? { proxy.map { $0.choice.own?.use($0.chooser) ?? .direct } }

    /// The connection rules; nil if the session's apply.
    func connectionRules(instead usual: ConnectionRules?) -> ConnectionRules? {
        if `guard`.isSession, proxy == nil { return nil }
        return ConnectionRules(
            `guard`.isSession ? usual?.guardRules : `guard`.own?.enforcedRules,
            proxy == nil ? usual?.chooseProxy : proxy?.chooser)
    }
}
