import Dunlin
import DunlinTesting
import Synchronization
import Testing

@testable import DunlinSession

/// Somebody who asks.
enum Person: String, CaseIterable, Sendable {
    case alice
    case bob
    case nobody

    var password: String { "secret of \(rawValue)" }
}

/// A way to say who asks.
struct WayToAsk: Sendable, CustomTestStringConvertible {
    let name: String
    var scheme = HTTP.Origin.Scheme.http
    /// Whether each has a session; if not, one session asks for all of them.
    var isOfSession = false
    /// Whether an answer may be kept and shared.
    var isKept = true
    var session: @Sendable (Person, inout HTTPSession.Configuration) -> Void = { _, _ in }
    /// Nil for nobody, who says nothing.
    var options: @Sendable (Person) -> HTTPSession.Options = { _ in HTTPSession.Options() }
    var userInfo: @Sendable (Person) -> String = { _ in "" }

    var testDescription: String { name }

    func url(_ person: Person) -> HTTP.Target {
        HTTP.Target(stringLiteral: "\(scheme.rawValue)://\(person == .nobody ? "" : userInfo(person))a.test/a")
    }

    func options(of person: Person, beside fields: Fields) -> HTTPSession.Options {
        var options = person == .nobody ? HTTPSession.Options() : options(person)
        options.fields = options.fields.overlaid(with: fields)
        return options
    }
}

extension WayToAsk {
    /// Ways of one request.
    static let ofRequests: [WayToAsk] = [
        WayToAsk(
            name: "a password",
            options: { .init(credentials: .value(.password(user: $0.rawValue, password: $0.password))) }),
        WayToAsk(name: "Basic", options: { .init(credentials: .basic(user: $0.rawValue, password: $0.password)) }),
        WayToAsk(name: "a token", options: { .init(credentials: .bearer(token: $0.rawValue)) }),
        WayToAsk(name: "the URL's user info", userInfo: { "\($0.rawValue):pw@" }),
        WayToAsk(
            name: "a handler", isKept: false,
            options: { person in
                .init(authenticationHandler: { _ in
                    .useCredential(.password(user: person.rawValue, password: person.password))
                })
            }),
        WayToAsk(
            name: "a handler that has a certificate", scheme: .https, isKept: false,
            options: { _ in .init(fields: ["Authorization": "Bearer x"], authenticationHandler: { _ in .reject }) }),
        WayToAsk(name: "Authorization", options: { .init(fields: ["Authorization": "Own \($0.rawValue)"]) }),
        WayToAsk(name: "a cookie", options: { .init(fields: ["Cookie": "sid=\($0.rawValue)"]) }),
        WayToAsk(name: "a key", options: { .init(fields: ["X-Own-Token": $0.rawValue]) }),
        WayToAsk(
            name: "what a proxy says of who logged in",
            options: { .init(fields: ["Cf-Access-Jwt-Assertion": $0.rawValue]) }),
        WayToAsk(
            name: "a token in a URL of a field",
            options: { .init(fields: ["X-Callback": "https://b.test/?token=\($0.rawValue)"]) }),
        WayToAsk(
            name: "a proxy's password",
            options: { .init(proxy: .value(.url("http://\($0.rawValue):pw@proxy.test:3128"))) }),
        WayToAsk(
            name: "a proxy's password, over TLS", scheme: .https,
            options: { .init(proxy: .value(.url("http://\($0.rawValue):pw@proxy.test:3128"))) }),
    ]

    /// Ways of a session.
    static let ofSessions: [WayToAsk] = [
        way("the session's password") { $1.credentials = .password(user: $0.rawValue, password: $0.password) },
        way("the session's token") { $1.credentials = .bearer(token: $0.rawValue) },
        way("the base URL's user info") { $1.baseURL = "http://\($0.rawValue):pw@a.test" },
        way("fields of the origin") { $1.originFields = ["X-User": $0.rawValue] },
        way("a field of the session") { $1.fields["X-Jwt"] = $0.rawValue },
        way("a password that answers challenges") {
            $1.credentials = .password(user: $0.rawValue, password: $0.password)
        },
        way("a token that changes") { person, configuration in
            let token = HTTPSession.BearerToken("\(person)")
            configuration.authentication = .bearer(token) { _ in token }
        },
        way("a handler of the session") { person, configuration in
            configuration.authenticationHandler = { _ in
                .useCredential(.password(user: person.rawValue, password: person.password))
            }
        },
        way("cookies of a jar") { person, configuration in
            let jar = CookieJar()
            do { try jar.set(HTTP.Cookie(name: "sid", value: "\(person)", domain: "a.test")) } catch {
                Issue.record(error)
            }
            configuration.cookies = jar
        },
        way("an interceptor") { person, configuration in
            configuration.interceptors = [
                .exchange { request, next in
                    try await next(request) { $0.head.fields["Authorization"] = "Bearer \(person)" }
                }
            ]
        },
    ]

    private static func way(
        _ name: String, _ session: @escaping @Sendable (Person, inout HTTPSession.Configuration) -> Void
    ) -> WayToAsk {
        WayToAsk(name: name, isOfSession: true, session: session)
    }
}

/// What is sent with every request, whoever asks.
enum ConstantField: CaseIterable, Sendable {
    case none
    case apiKey
    case idempotencyKey
    case harmless

    var fields: Fields {
        switch self {
        case .none: Fields()
        case .apiKey: ["X-Api-Key": "the app's"]
        case .idempotencyKey: ["Idempotency-Key": "1"]
        case .harmless: ["X-Monkey": "1"]
        }
    }
}

/// Those who ask in one way, over a transport of which each answer has another body.
final class Askers: Sendable {
    let transport = MockTransport()
    private let way: WayToAsk
    private let constant: ConstantField
    /// Those of persons who have one of their own, and nobody's.
    private let sessions: [Person: HTTPSession]
    private let common: HTTPSession
    private let seen = Mutex<[Person: Set<String>]>([:])

    init(
        _ way: WayToAsk, _ constant: ConstantField, _ answer: Fields, delay: @escaping @Sendable () async -> Void = {},
        _ change: @escaping (inout HTTPSession.Configuration) -> Void
    ) throws {
        (self.way, self.constant) = (way, constant)
        let number = Atomic(0)
        transport.otherwise { _ in
            await delay()
            return .respond(fields: answer, body: Bytes("\(number.add(1, ordering: .relaxed).newValue)".utf8))
        }
        var sessions: [Person: HTTPSession] = [:]
        let make = { [transport] (person: Person) in
            var configuration = HTTPSession.Configuration(
                baseURL: "\(way.scheme.rawValue)://a.test", transport: transport)
            configuration.fields = configuration.fields.overlaid(with: constant.fields)
            change(&configuration)
            if person != .nobody { way.session(person, &configuration) }
            return try HTTPSession(configuration)
        }
        common = try make(.nobody)
        for person in [Person.alice, .bob] where way.isOfSession { sessions[person] = try make(person) }
        self.sessions = sessions
    }

    func session(of person: Person) -> HTTPSession { sessions[person] ?? common }

    /// Asks, and notes who saw what.
    @discardableResult
    func ask(_ person: Person) async throws -> String {
        let target: HTTP.Target = way.isOfSession ? "/a" : way.url(person)
        let options = way.options(of: person, beside: Fields())
        let body = try await session(of: person).get(target, options: options, as: .string).value
        seen.withLock { _ = $0[person, default: []].insert(body) }
        return body
    }

    func shutdown() async {
        for session in sessions.values + [common] { await session.shutdown(grace: .seconds(1000)) }
    }

    /// Those who saw what somebody else saw.
    var mixedUp: [Person] {
        let seen = seen.withLock(\.self)
        return Person.allCases.filter { person in
            seen.contains { $0.key != person && !$0.value.isDisjoint(with: seen[person] ?? []) }
        }
    }
}
