internal import DunlinTransport

/// What one request has of its own for as long as it runs. Most have nothing, and none of these.
final class RequestSettings: Sendable {
    let options: RareOptions.Values
    private let rare: RareOptions?
    /// Those who attend the exchange itself.
    let attendants: Attendants?
    /// Who else wants to know of it.
    let audience: Audience?
    /// What the request begins with, if its URL has a fragment.
    let trail: Trail?

    init(_ rare: RareOptions?, _ advisor: RequestAdvisor?, _ audience: Audience?, fragment: String?) {
        self.rare = rare
        options = rare?.values ?? RareOptions.Values()
        attendants = Attendants(advisor: advisor, watch: audience?.watch)
        self.audience = audience
        trail = fragment.map { Trail([], fragment: $0) }
    }

    private init(copy settings: RequestSettings, _ attendants: Attendants?) {
        (options, rare, audience, trail) = (settings.options, settings.rare, settings.audience, settings.trail)
        self.attendants = attendants
    }

    /// The same for one of several exchanges of the request, which `watch` looks on.
    func part(_ watch: TransferWatch) -> RequestSettings {
        RequestSettings(copy: self, Attendants(advisor: attendants?.advisor, watch: watch))
    }

    func routed(_ origin: Origin) throws -> Origin { try rare?.routed(origin) ?? origin }
}
