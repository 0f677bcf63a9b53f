internal import DunlinTransport

/// What one request has of its own for as long as it runs. Most have nothing, and none of these.
package final class RequestSettings: Sendable {
    let options: RareOptions.Values
    private let rare: RareOptions?
    /// Those who attend the exchange itself.
    let attendants: Attendants?
    /// Who else wants to know of it.
    let audience: Audience?
    /// Whether it may be tried again; nil if it does not say.
    let retries: Bool?
    /// What the request begins with, if its URL has a fragment.
    package let trail: Trail?

    /// Nil if there is nothing.
    static func of(_ call: HTTPSession.Call) -> RequestSettings? {
        if call.options.rare == nil, call.fragment == nil, call.audience == nil { return nil }
        return RequestSettings(call)
    }

    private init(_ call: HTTPSession.Call) {
        rare = call.options.rare
        options = rare?.values ?? RareOptions.Values()
        retries = options.retry?.isSet
        let own = options.authenticate.map { RequestAdvisor(call.session.advisor, $0) }
        attendants = Attendants(advisor: own, watch: call.audience?.watch)
        audience = call.audience
        trail = call.fragment.map { fragment in Trail?.none.with { $0.fragment = fragment } }
    }

    func routed(_ origin: Origin) throws -> Origin { try rare?.routed(origin) ?? origin }
}
