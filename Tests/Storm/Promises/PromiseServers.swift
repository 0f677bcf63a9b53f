import Dunlin
import DunlinTesting
import Foundation
import Synchronization

/// The servers of a storm of promises: each says in its responses for whom and what they are, and remembers who showed
/// it what.
final class PromiseServers: Sendable {
    private struct State {
        var serial = 0
        var targets: [String: Int] = [:]
        var complaints: [String] = []
    }

    /// A request, whoever carried it.
    struct Question {
        let server: Site
        let method: HTTP.Method
        let target: String
        let host: String
        let fields: Fields

        /// Whom it is for, by the name that it was asked for by. A name that no site has is one of the server's own.
        var site: String {
            let name = host.split(separator: ".").first.map(String.init) ?? ""
            return Site(rawValue: name) == nil ? server.rawValue : name
        }
    }

    struct Answer {
        var status = HTTP.Status.ok
        var fields = Fields()
        var body = Bytes.empty
        var delay = Duration.zero
        /// Ends the connection instead.
        var isLost = false
    }

    private let servers: [Site: LoopbackServer]
    private let proxy: LoopbackProxy
    private let state = Mutex(State())

    static let (proxyUser, proxySecret) = ("proxy", "\(Secret.mark)proxy-proxy")

    init() throws {
        var configuration = LoopbackServer.Configuration()
        configuration.recordsRequests = false
        servers = [
            .home: try LoopbackServer(configuration: configuration),
            .away: try LoopbackServer(configuration: configuration),
            .inner: try LoopbackServer(.ipv6, configuration: configuration),
        ]
        proxy = try LoopbackProxy(user: Self.proxyUser, password: Self.proxySecret)
        for (site, server) in servers { server.respond { [unowned self] in reply(to: $0, of: site) } }
    }

    func stop() {
        proxy.stop()
        for server in servers.values { server.stop() }
    }

    /// What was wrong with requests. One that was given up may end anywhere.
    var failures: [LoopbackServer.Failure] {
        servers.values.flatMap(\.failures).filter { $0.kind == .malformed || $0.kind == .system }
    }

    func port(of site: Site) -> UInt16 { servers[site]?.port ?? servers[.home]?.port ?? 0 }

    var proxyURL: String { proxy.url(user: Self.proxyUser, password: Self.proxySecret) }

    /// How often a target was asked for since the last time.
    func takeTargets() -> [String: Int] {
        state.withLock { state in
            defer { state.targets = [:] }
            return state.targets
        }
    }

    func takeComplaints() -> [String] {
        state.withLock { state in
            defer { state.complaints = [] }
            return state.complaints
        }
    }

    // MARK: Over sockets

    private func reply(to request: LoopbackServer.RecordedRequest, of site: Site) -> LoopbackServer.Reply {
        let host = request.fields["Host"] ?? ""
        let answer = answer(
            Question(
                server: site, method: request.method, target: Self.path(of: request.target),
                host: Self.name(host), fields: request.fields))
        if answer.isLost { return [.close] }
        let reply = LoopbackServer.Reply.response(answer.status, fields: answer.fields, body: answer.body)
        return answer.delay == .zero ? reply : reply.delayed(answer.delay)
    }

    private static func name(_ host: String) -> String { String(host.prefix { $0 != ":" }) }

    private static func path(of target: String) -> String {
        guard target.hasPrefix("http://") else { return target }
        return String(target.dropFirst(7).drop { $0 != "/" })
    }

    // MARK: Over somebody else's transport

    func mock() -> MockTransport {
        let transport = MockTransport()
        transport.otherwise { [self] request in
            let host = request.fields["Host"].map(Self.name) ?? request.origin.host
            let server = Site.allCases.first { request.origin.host == $0.host } ?? .home
            let answer = answer(
                Question(
                    server: server, method: request.method, target: request.target, host: host,
                    fields: request.fields))
            if answer.isLost { return .fail(.connectionReset) }
            let outcome = MockTransport.Outcome.respond(answer.status, fields: answer.fields, body: answer.body)
            return answer.delay == .zero ? outcome : outcome.delayed(answer.delay)
        }
        return transport
    }
}

extension PromiseServers {
    /// The same for every transport.
    private func answer(_ question: Question) -> Answer {
        let shown = question.fields.map { Self.plain($0.value) }
        let serial = state.withLock { state in
            state.serial += 1
            state.targets[question.target, default: 0] += 1
            for secret in shown.flatMap(Secret.found) where secret.site != question.site {
                state.complaints.append(
                    "\(question.server) was shown the secret of \(secret.owner) for \(secret.site), asked for "
                        + "\(question.host)\(question.target)")
            }
            return state.serial
        }
        let parts = question.target.split(separator: "/").map(String.init)
        guard parts.count >= 2, let key = parts[1].first?.wholeNumberValue else { return Answer(status: .notFound) }
        var answer = Answer()
        if serial % 4 == 0 { answer.delay = .microseconds(500 * (1 + serial % 5)) }
        if serial % 61 == 0 { answer.isLost = true }
        if parts[0] == "slow" { answer.delay = .milliseconds(300) }
        answer.fields["Set-Cookie"] = "id=\(Secret.mark)cookie-\(question.site)"
        let user = Self.user(question.fields)
        if parts[0] == "basic" || parts[0] == "digest", user == .nobody {
            answer.status = .unauthorized
            answer.fields["WWW-Authenticate"] = Self.challenge(parts[0], question.site, serial)
            return answer
        }
        if parts[0] == "redirect", parts.count == 3, let site = Site(rawValue: parts[2]) {
            answer.status = .found
            answer.fields["Location"] = "http://\(site.host):\(port(of: site))/open/\(parts[1])"
            answer.fields["Cache-Control"] = key == 0 ? "max-age=60" : "no-store"
            return answer
        }
        page(&answer, question, user, key, serial)
        return answer
    }

    private func page(_ answer: inout Answer, _ question: Question, _ user: User, _ key: Int, _ serial: Int) {
        let isTagged = [1, 2, 5].contains(key)
        if isTagged { answer.fields["ETag"] = "\"same\"" }
        answer.fields["Cache-Control"] = Self.freshness(key)
        if key == 4 { answer.fields["Vary"] = "Accept-Language" }
        // A client that has this state has it of the same user: that is what it has to see to.
        if isTagged, question.fields["If-None-Match"]?.contains("\"same\"") == true {
            answer.status = .notModified
            return
        }
        let said = Answered(
            user: user.rawValue, host: question.host, server: question.server, target: question.target,
            language: question.fields["Accept-Language"] ?? "", serial: serial)
        answer.fields["Promise"] = said.text
        let line = Array("\(said.text)\n".utf8)
        answer.body = Bytes(Array((0..<(key == 5 ? 400 : 3)).map { _ in line }.joined()))
    }

    /// How long a page keeps. Of the third kind nothing is said.
    private static func freshness(_ key: Int) -> String? {
        switch key {
        case 0: "private, max-age=60"
        case 1: "no-cache"
        case 2: "max-age=0, stale-while-revalidate=60"
        case 3: nil
        default: "max-age=60"
        }
    }

    private static func challenge(_ scheme: String, _ site: String, _ serial: Int) -> String {
        scheme == "basic"
            ? "Basic realm=\"\(site)\""
            : "Digest realm=\"\(site)\", nonce=\"n\(serial)\", qop=\"auth\", algorithm=SHA-256"
    }

    /// Who proved to be somebody.
    private static func user(_ fields: Fields) -> User {
        let shown = fields["Authorization"] ?? fields["X-Session-Token"] ?? fields["Cookie"] ?? ""
        if shown.hasPrefix("Digest") {
            return User.known.first { shown.contains("username=\"\($0.rawValue)\"") } ?? .nobody
        }
        return Secret.found(in: plain(shown)).compactMap { User(rawValue: $0.owner) }.first ?? .nobody
    }

    /// What a value says, Basic unwrapped.
    private static func plain(_ value: String) -> String {
        guard value.hasPrefix("Basic "), let bytes = Data(base64Encoded: String(value.dropFirst(6))) else {
            return value
        }
        return String(decoding: bytes, as: UTF8.self)
    }
}
