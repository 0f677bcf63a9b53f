internal import DunlinTransport

/// What one request has of its own for as long as it runs. Most have nothing, and none of these.
package final class RequestSettings: Sendable {
    let options: RareOptions.Values
    private let rare: RareOptions?
    /// Those who attend the exchange itself.
    let exchangeOptions: ExchangeOptions?
    /// Who else wants to know of it.
    let observers: RequestObservers?
    /// Whether it may be tried again; nil if it does not say.
    let retries: Bool?
    /// What the request begins with, if its URL has a fragment.
    package let callHistory: CallHistory?

    /// Nil if there is nothing.
    static func of(_ call: HTTPSession.Call) -> RequestSettings? {
        if call.options.rare == nil, call.fragment == nil, call.observers == nil { return nil }
        return RequestSettings(call)
    }

    private init(_ call: HTTPSession.Call) {
        rare = call.options.rare
        options = rare?.values ?? RareOptions.Values()
        retries = options.retry?.isSet
        let own = options.authenticationHandler.map { RequestTLSPolicySource(call.session.tlsPolicySource, $0) }
        exchangeOptions = ExchangeOptions(tlsPolicySource: own, control: call.observers?.control)
        observers = call.observers
        callHistory = call.fragment.map { fragment in CallHistory?.none.with { $0.fragment = fragment } }
    }

    func routed(_ origin: HTTP.Origin) throws -> HTTP.Origin { try rare?.routed(origin) ?? origin }
}
