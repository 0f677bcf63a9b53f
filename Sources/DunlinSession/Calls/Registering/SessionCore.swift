package import DunlinReactor
internal import DunlinTransport
internal import Synchronization

/// What the calls of a session share. It outlives a released session while calls still run.
package final class SessionCore: Sendable {
    let configuration: HTTPSession.Configuration
    /// The running calls of the session.
    package let tasks: TaskRegistry
    let builder: RequestBuilder
    let decoding: Decoding
    package let contentSettings: ContentSettings
    package var secretFields: HTTP.SecretFields { configuration.secretFields }
    /// The settings for writing the session's requests as commands.
    let curl: CurlSettings
    package let loops: [Reactor]
    let tlsPolicySources: TLSPolicySources
    var tlsPolicySource: SessionTLSPolicySource { tlsPolicySources.origins }
    /// Its place among the owners of what others wait for.
    let owner: Owner
    /// The authentication stages of all its chains.
    let authentication: [any Stage]
    package let hub: EventHub
    /// What a closing of the session ends, with the background calls.
    package let residents = SessionResidents()
    let background = BackgroundTasks()
    let user: SessionUser
    /// The session's own code that decides which servers answer, as text; nil for none.
    let routeCode: String?
    /// From which network it asks, as text, where an origin has no route of its own.
    let network: String
    /// The queue; nil without limits.
    let queue: RequestQueue?
    private let nextLoop = Atomic<Int>(0)

    /// Creates a core; `chain` is the first chain of its calls.
    init(
        _ configuration: HTTPSession.Configuration, _ builder: RequestBuilder,
        _ tlsPolicySources: TLSPolicySources,
        on loops: [Reactor], authentication: [any Stage], chain: Chain, _ owner: Owner
    ) {
        self.owner = owner
        self.authentication = authentication
        let user = SessionUser(name: configuration.userID)
        self.user = user
        routeCode = Self.routeCode(configuration, user)
        network = Access.network(of: configuration)
        self.configuration = configuration
        self.builder = builder
        self.tlsPolicySources = tlsPolicySources
        self.loops = loops
        decoding = Decoding(configuration.limits, configuration.codecs)
        var json = configuration.json
        json.secretFields = configuration.secretFields
        contentSettings = ContentSettings(
            json: json, accepting: configuration.acceptedContentTypes, configuration.acceptedStatuses)
        curl = CurlSettings(
            configuration.secretFields, redirects: configuration.redirects.rules, trust: configuration.tls.curl,
            interface: configuration.sockets.interface,
            allowsBasicInClearText: configuration.basicInClearText == .allowed,
            proxyUse: configuration.proxy.use(builder.connectionRules?.chooseProxy))
        hub = EventHub(always: configuration.hooks.isSet || configuration.queue.isSet)
        queue = configuration.queue.isSet ? configuration.queue.shared ?? RequestQueue(configuration.queue) : nil
        tasks = TaskRegistry(chain, on: loops)
    }

    private static func routeCode(_ configuration: HTTPSession.Configuration, _ user: SessionUser) -> String? {
        var codes = configuration.interceptors.compactMap(\.outerTransport).map { "around " + user.route(by: $0) }
        if let transport = configuration.transport {
            codes.append("transport " + user.route(by: transport))
        } else if let resolver = configuration.resolver {
            codes.append("resolver " + user.route(by: resolver))
        }
        return codes.isEmpty ? nil : codes.joined(separator: " ")
    }

    /// The loop that the caller is on, or the next in turn.
    package var loop: Reactor { list.loop }

    /// The list of that loop.
    var list: TaskList {
        let lists = tasks.lists
        if let here = lists.first(where: { $0.loop.isCurrent }) { return here }
        let turn = lists.count == 1 ? 0 : nextLoop.add(1, ordering: .relaxed).oldValue
        return lists[Int(UInt(bitPattern: turn) % UInt(lists.count))]
    }

    var isOnLoop: Bool { loops.contains(where: \.isCurrent) }
}

/// The sources of a session's TLS policies: one for origins, and a separate one for proxies.
struct TLSPolicySources: Sendable {
    let origins: SessionTLSPolicySource
    let proxies: SessionTLSPolicySource

    /// Throws `NetworkError` with code `invalidConfiguration`.
    init(_ configuration: HTTPSession.Configuration, _ clearText: ClearTextRule, _ warnings: SecurityWarnings) throws {
        origins = try SessionTLSPolicySource(
            configuration.tls, configuration.authenticationHandler, baseURL: configuration.baseURL, clearText, warnings)
        do {
            proxies = try SessionTLSPolicySource(
                configuration.proxyTLS, nil, baseURL: nil, ClearTextRule(configuration.proxyTLS.policy), warnings)
        } catch var error as NetworkError {
            error.reason = "proxyTLS: \(error.reason)"
            throw error
        }
    }
}

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

extension Enclosure {
    /// Runs `operation` within a request of this session and everything that the caller is within.
    static func enter<Value>(
        request id: HTTPSession.TaskID, of core: SessionCore, isolation: isolated (any Actor)? = #isolation,
        _ operation: () async throws -> Value
    ) async rethrows -> Value {
        try await enter(
            .request(id), of: core.owner, among: core.tasks, around: alive, isolation: isolation, operation)
    }
}

extension HTTPSession {
    package var owner: Owner { core.owner }

    /// Whether the running code is the session's own refresh, handler or interceptor.
    package var runsOwnCode: Bool { core.runsOwnCode }
}
