import Dunlin
import DunlinTesting
import Foundation
import Synchronization

/// A server of two hosts, which is a proxy too. It says in every body for whom and what it is, breaks off some, and
/// remembers when each version ended.
final class KeptServer: Sendable {
    private struct State {
        var serial: UInt64 = 0
        var parts = 0
        var confirmations = 0
        /// When each version of a resource ended, oldest first.
        var ends: [KeptResource: [ContinuousClock.Instant]] = [:]
    }

    static let (paceField, slow) = ("X-Pace", "slow")
    static let wait = Duration.milliseconds(3)

    let seed: UInt64
    /// One for all sessions: nothing that came by different ones is shared.
    let resolver = Nearby()
    private let server: LoopbackServer
    private let state = Mutex(State())

    init(seed: UInt64) throws {
        self.seed = seed
        var configuration = LoopbackServer.Configuration()
        configuration.recordsRequests = false
        server = try LoopbackServer(configuration: configuration)
        server.respond { [unowned self] in reply(to: $0) }
    }

    func stop() { server.stop() }

    /// What was wrong with requests. One that was given up may end anywhere.
    var failures: [LoopbackServer.Failure] {
        server.failures.filter { $0.kind == .malformed || $0.kind == .system }
    }

    /// What it was asked for.
    var counts: String {
        state.withLock { "\($0.serial) answers, \($0.parts) of them parts and \($0.confirmations) confirmations" }
    }

    func url(of resource: KeptResource) -> String { "http://\(resource.host):\(server.port)\(resource.path)" }

    /// The resource of a URL of this server's.
    func resource(of url: String) -> KeptResource? {
        guard let slashes = url.firstRange(of: "://") else { return nil }
        let rest = url[slashes.upperBound...]
        let (host, path) = (rest.prefix { $0 != ":" && $0 != "/" }, rest.drop { $0 != "/" })
        return KeptResource(host: String(host), path: String(path))
    }

    func proxy(of user: String) -> HTTPSession.Proxy {
        user == "-" ? .none : .url("http://\(user):pw@127.0.0.1:\(server.port)")
    }

    // MARK: Versions

    func version(of resource: KeptResource) -> Int { state.withLock { $0.ends[resource]?.count ?? 0 } }

    func versions() -> [KeptResource: Int] { state.withLock { $0.ends.mapValues(\.count) } }

    func change(_ resource: KeptResource) { state.withLock { $0.ends[resource, default: []].append(.now) } }

    /// The versions that were there at some moment since then; all for nil.
    func versions(of resource: KeptResource, since start: ContinuousClock.Instant?) -> ClosedRange<Int> {
        let ends = state.withLock { $0.ends[resource] ?? [] }
        guard let start else { return 0...ends.count }
        return (ends.firstIndex { $0 >= start } ?? ends.count)...ends.count
    }

    // MARK: Answers

    private func reply(to request: LoopbackServer.RecordedRequest) -> LoopbackServer.Reply {
        let said = request.fields
        let resource = resource(
            of: request.target.hasPrefix("/") ? "http://\(said["Host"] ?? "")\(request.target)" : request.target)
        guard let resource, let page = KeptPage(resource.path, seed: seed) else { return .response(.notFound) }
        let (serial, version) = state.withLock { state in
            state.serial += 1
            return (state.serial, state.ends[resource]?.count ?? 0)
        }
        let asker = Self.asker(said)
        if page.isClosed, asker.user == "-" {
            return .response(.unauthorized, fields: ["WWW-Authenticate": "Basic realm=\"kept\""], body: "who?")
        }
        var fields: Fields = ["Date": Self.date(), "Content-Type": page.kind == .picture ? "image/gif" : "text/plain"]
        fields["Cache-Control"] = page.freshness
        fields["Vary"] = page.vary
        let selected = Self.selected(page, said)
        if page.isRedirect {
            let mood = String(selected.prefix { $0 != ":" })
            let next = page.destination(of: asker, mood, version: version, on: resource.host)
            fields["Location"] = url(of: next)
            // A jar is one user's once it has a cookie: nobody is given the first.
            if page.setsCookie, asker != .nobody { fields["Set-Cookie"] = "turn=\(serial % 5); Path=\(next.path)" }
            return .response(.found, fields: fields)
        }
        let text = KeptText(asker: asker, resource: resource, selected: selected, version: version)
        let own = KeptPage.hash("\(asker)\(selected)") % 16
        let (tag, date) = Self.validators(page, version, own)
        (fields["ETag"], fields["Last-Modified"], fields["Accept-Ranges"]) = (tag, date, "bytes")
        if Self.isUnchanged(said, tag, date) {
            state.withLock { $0.confirmations += 1 }
            return .response(.notModified, fields: fields)
        }
        return part(Bytes(text.body(page)), fields, asked: said, tag ?? date, serial)
    }

    /// All of it or the range that was asked for, and sometimes slowly or only half of it.
    private func part(
        _ whole: Bytes, _ fields: Fields, asked: Fields, _ validator: String?, _ serial: UInt64
    ) -> LoopbackServer.Reply {
        var (fields, status, body) = (fields, HTTP.Status.ok, whole)
        let ends = asked["Range"]?.dropFirst(6).split(separator: "-", omittingEmptySubsequences: false) ?? []
        if ends.count == 2, let first = Int(ends[0]), first < whole.count, asked["If-Range"] ?? validator == validator {
            state.withLock { $0.parts += 1 }
            let last = min(Int(ends[1]) ?? .max, whole.count - 1)
            (status, body) = (.partialContent, whole[first..<last + 1])
            fields["Content-Range"] = "bytes \(first)-\(last)/\(whole.count)"
        }
        var dice = SeededGenerator(seed: seed &+ serial)
        let (isSlow, weather) = (asked[Self.paceField] == Self.slow, dice.next(below: 24))
        guard isSlow || weather < 7 else { return .response(status, fields: fields, body: body) }
        if !isSlow, weather < 2 {
            return LoopbackServer.Reply.response(status, fields: fields, body: body).delayed(Self.wait)
        }
        fields["Content-Length"] = "\(body.count)"
        let half = body.count / 2
        let begun = LoopbackServer.Step.message(.init(status, fields: fields, body: body[0..<half]))
        // A download waits half a second before it goes on by itself.
        let breaks = isSlow ? dice.next(below: 300) == 0 : weather < 6
        return breaks ? [begun, .close] : [begun, .pause(Self.wait), .send(body[half..<body.count])]
    }

    private static func validators(_ page: KeptPage, _ version: Int, _ own: UInt64) -> (String?, String?) {
        func date(_ own: UInt64) -> String {
            let second = (version * 16 + Int(own)) % 86_400
            let parts = [second / 3600, second / 60 % 60, second % 60].map { $0 < 10 ? "0\($0)" : "\($0)" }
            return "Wed, 01 Jan 2020 \(parts.joined(separator: ":")) GMT"
        }
        return switch page.validator {
        case .none: (nil, nil)
        case .ownTag: ("\"\(version)-\(own)\"", nil)
        case .sharedTag: ("\"\(version)\"", nil)
        case .ownDate: (nil, date(own))
        case .sharedDate: (nil, date(0))
        }
    }

    private static func isUnchanged(_ said: Fields, _ tag: String?, _ date: String?) -> Bool {
        if let tags = said["If-None-Match"] { return tag.map { tags.contains($0) } ?? false }
        // All are of one day.
        guard let since = said["If-Modified-Since"], let date else { return false }
        return date <= since
    }

    /// The value that selects the variant; of cookies those that say nothing of the user.
    private static func selected(_ page: KeptPage, _ said: Fields) -> String {
        guard let name = page.vary else { return "-" }
        guard name == "Cookie" else { return said[name] ?? "-" }
        let mood = cookie("me", said)?.split(separator: "~").dropFirst().first.map(String.init) ?? "-"
        return cookie("turn", said).map { "\(mood):\($0)" } ?? mood
    }

    private static func asker(_ said: Fields) -> KeptAsker {
        let cookie = cookie("me", said)?.split(separator: "~").first.map(String.init)
        return KeptAsker(
            user: user(said["Authorization"]), cookie: cookie ?? "-", proxy: user(said["Proxy-Authorization"]))
    }

    private static func cookie(_ name: String, _ said: Fields) -> String? {
        let all = said["Cookie"]?.split(separator: ";").map { $0.drop { $0 == " " } } ?? []
        return all.first { $0.hasPrefix("\(name)=") }.map { String($0.dropFirst(name.count + 1)) }
    }

    private static func user(_ value: String?) -> String {
        guard let parts = value?.split(separator: " "), parts.count == 2 else { return "-" }
        guard parts[0] == "Basic", let bytes = Data(base64Encoded: String(parts[1])) else { return String(parts[1]) }
        return String(String(decoding: bytes, as: UTF8.self).prefix { $0 != ":" })
    }

    private static func date() -> String {
        var (now, parts, text) = (time(nil), tm(), [CChar](repeating: 0, count: 40))
        gmtime_r(&now, &parts)
        let count = strftime(&text, text.count, "%a, %d %b %Y %H:%M:%S GMT", &parts)
        return String(decoding: text.prefix(count).map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }
}
