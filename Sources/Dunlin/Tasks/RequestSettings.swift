internal import DunlinTransport

/// What one request has of its own for as long as it runs. Most have nothing, and none of these.
final class RequestSettings: Sendable {
    let options: RareOptions.Values
    private let rare: RareOptions?
    /// Those who attend the exchange itself.
    let attendants: Attendants?
    /// Who else wants to know of it.
    let audience: Audience?
    /// Whether it may be tried again; nil if it does not say.
    let retries: Bool?
    /// What the request begins with, if its URL has a fragment.
    let trail: Trail?
    /// What these belong to one of several exchanges of.
    let whole: TaskDelegate?

    init(_ rare: RareOptions?, _ advisor: RequestAdvisor?, _ audience: Audience?, fragment: String?) {
        self.rare = rare
        options = rare?.values ?? RareOptions.Values()
        retries = options.retry?.isSet
        attendants = Attendants(advisor: advisor, watch: audience?.watch)
        self.audience = audience
        trail = fragment.map { Trail([], fragment: $0) }
        whole = nil
    }

    /// The same for one of several exchanges of the request, which `watch` looks on.
    init(partOf whole: TaskDelegate, _ watch: TransferWatch) {
        let settings = whole.settings
        rare = settings?.rare
        options = settings?.options ?? RareOptions.Values()
        (audience, trail) = (settings?.audience, settings?.trail)
        retries = settings?.retries
        attendants = Attendants(advisor: settings?.attendants?.advisor, watch: watch)
        self.whole = whole
    }

    func routed(_ origin: Origin) throws -> Origin { try rare?.routed(origin) ?? origin }
}
