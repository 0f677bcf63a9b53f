internal import DunlinTransport

/// The settings of one call while it runs. Most calls have none and no such object.
package final class RequestSettings: Sendable {
    let options: RareOptions.Values
    private let rare: RareOptions?
    /// The options of the call's exchanges.
    let exchangeOptions: ExchangeOptions?
    /// The call's observers, other than its caller.
    let observers: RequestObservers?
    /// Whether the call may have more than one attempt; nil for the session's setting.
    let retries: Bool?
    /// The history that the call begins with, if its URL has a fragment.
    package let callHistory: CallHistory?
    /// The path of the session's base URL.
    let basePath: String
    /// The password for challenges of the request's own origin, instead of the session's.
    let password: OriginPassword?

    /// The settings of a call; nil if it has none.
    static func of(_ call: HTTPSession.Call) -> RequestSettings? {
        if call.options.rare == nil, call.extras == nil, call.observers == nil, !call.isKept { return nil }
        return RequestSettings(call)
    }

    private init(_ call: HTTPSession.Call) {
        rare = call.options.rare
        options = rare?.values ?? RareOptions.Values()
        retries = options.retry.isSession ? nil : options.retry.own?.isSet ?? false
        let own = options.authenticationHandler.map {
            RequestTLSPolicySource(call.session.tlsPolicySource, $0)
        }
        exchangeOptions = ExchangeOptions(
            tlsPolicySource: own, control: call.observers?.control,
            connectionRules: options.connectionRules(instead: call.session.builder.connectionRules),
            upgrade: options.upgrade)
        observers = call.observers
        callHistory = call.extras?.fragment.map { fragment in CallHistory?.none.with { $0.fragment = fragment } }
        basePath = call.session.builder.basePath
        password = Self.password(of: call, options.credentials)
    }

    private static func password(
        of call: HTTPSession.Call, _ credentials: HTTPSession.PerRequest<HTTP.Credentials>
    ) -> OriginPassword? {
        let origin = call.head.origin
        let password =
            switch credentials {
            case .session: call.session.builder.password(of: call.extras, at: origin)
            case .none: HTTPSession.Password?.none
            case .value(let credentials): HTTPSession.Password(credentials)
            }
        return password.map { OriginPassword(origin: origin, password: $0) }
    }

    func routed(_ origin: HTTP.Origin) throws -> HTTP.Origin { try rare?.routed(origin) ?? origin }
}

extension Sending {
    /// The redirect policy: the request's own before the session's.
    var redirectPolicy: HTTPSession.RedirectPolicy { asking.redirectPolicy }

    /// The names of fields that are not stored.
    package var unstoredFields: HTTP.SecretFields { session.configuration.unstoredFields(under: redirectPolicy) }

    var retryPolicy: HTTPSession.RetryPolicy {
        (delegate.settings?.options.retry ?? .session).resolved(session.configuration.retry) ?? .never
    }
}
