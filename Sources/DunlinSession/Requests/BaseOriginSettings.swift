internal import DunlinSemantics
internal import DunlinWire
internal import Synchronization

/// What only the base URL's origin gets: the session's credentials, and fields for it alone. Both can be replaced while
/// the session lives; a request has those of the moment when it was made.
final class BaseOriginSettings: Sendable {
    /// What a request to the base's origin has in addition to the session's fields.
    struct Values {
        /// The value of `Authorization`; nil for none.
        let authorization: String?
        /// The password that answers the origin's challenges instead.
        let password: HTTPSession.Password?
        /// The fields, marked as sensitive so that no redirect takes them elsewhere.
        let fields: Fields
        /// All fields of a request that adds none, ready to be sent.
        let prepared: PreparedFields?
    }

    private struct State {
        var credentials: HTTP.Credentials?
        var fields: Fields
        var values: Values?
        var replacements = 0
    }

    private let base: WebAddress?
    /// The base's origin with its route.
    private let route: HTTP.Origin?
    private let defaults: Fields
    private let basic: BasicRule
    private let state: Mutex<State>
    /// Whether there is anything; most sessions have nothing and take no lock.
    private let hasHome: Atomic<Bool>

    init(
        _ configuration: HTTPSession.Configuration, _ defaults: Fields, _ base: WebAddress?, over route: HTTP.Origin?,
        _ basic: BasicRule
    ) throws {
        self.base = base
        self.route = route
        self.defaults = defaults
        self.basic = basic
        var state = State(credentials: configuration.credentials, fields: configuration.originFields)
        state.values = try Self.values(state, defaults, base)
        if state.credentials?.isBasic == true, let route { try basic.check(.example(at: route)) }
        hasHome = Atomic(state.values != nil)
        self.state = Mutex(state)
    }

    /// The additions; nil if there are none.
    var values: Values? {
        isSet ? state.withLock { $0.values } : nil
    }

    var isSet: Bool { hasHome.load(ordering: .acquiring) }

    /// The number of times that the settings were replaced.
    var replacements: Int { state.withLock { $0.replacements } }

    /// Whether credentials, user info or a field identify the user.
    var hasAuthorization: Bool {
        values.map { $0.authorization != nil || $0.password != nil || $0.fields.contains("authorization") } ?? false
    }

    func replace(credentials: HTTP.Credentials?) throws {
        if credentials?.isBasic == true, let route { try basic.check(.example(at: route)) }
        try change { $0.credentials = credentials }
    }

    func replace(_ fields: Fields) throws {
        try change { $0.fields = fields }
    }

    /// Changes the state. Throws, without a change, for what cannot be sent.
    private func change(_ change: (inout State) -> Void) throws {
        try state.withLock { state in
            var next = state
            change(&next)
            next.values = try Self.values(next, defaults, base)
            next.replacements += 1
            state = next
            hasHome.store(next.values != nil, ordering: .releasing)
        }
    }

    private static func values(_ state: State, _ defaults: Fields, _ base: WebAddress?) throws -> Values? {
        var own = state.fields
        own.markAll()
        func contradiction(_ reason: String) -> NetworkError { NetworkError(.invalidConfiguration, reason) }
        if base == nil, state.credentials != nil {
            throw contradiction("credentials are only sent to the base URL's origin; set `baseURL`")
        }
        if base == nil, !own.isEmpty {
            throw contradiction("`originFields` are only sent to the base URL's origin; set `baseURL`")
        }
        let isNamed = own.contains("authorization") || defaults.contains("authorization")
        if isNamed, state.credentials != nil {
            throw contradiction(
                "credentials are given twice: by `credentials`, and by a field Authorization in `fields` or "
                    + "`originFields`; give one")
        }
        let authorization = try state.credentials?.authorization(.invalidConfiguration)
        let password = isNamed || authorization != nil ? nil : try password(state, base)
        if authorization == nil, password == nil, own.isEmpty { return nil }
        var fields = defaults.overlaid(with: own)
        if let authorization { fields.authorize(authorization) }
        return Values(
            authorization: authorization, password: password, fields: own,
            prepared: try RequestBuilder.prepare(fields))
    }

    private static func password(_ state: State, _ base: WebAddress?) throws -> HTTPSession.Password? {
        let password =
            state.credentials.flatMap { HTTPSession.Password($0) } ?? base?.userInfo.map { HTTPSession.Password($0) }
        try password?.check(.invalidConfiguration)
        return password
    }
}

extension RequestHead {
    /// An example of a request to an origin, for checks.
    fileprivate static func example(at origin: HTTP.Origin) -> RequestHead {
        RequestHead(method: .get, origin: origin, target: "/")
    }
}
