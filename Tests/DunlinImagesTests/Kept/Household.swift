import Dunlin
import DunlinImages
import DunlinTesting
import Synchronization
import Testing

/// A way to say who asks, or which of several pictures is asked for.
struct Way: Sendable, CustomTestStringConvertible {
    let testDescription: String
    /// What the server says a picture varies by.
    var varies: String?
    /// See `Painter.Rules`.
    var redirect: Fields?
    var gallery: String?
    var challenge: String?
    /// Whether everybody has a session; if not, one session asks for all of them.
    var hasOwnSessions = false
    /// Whether it takes real connections, over TLS if it is to.
    var isReal = false
    var isSecure = false
    var persons: [Person] = [.alice, .bob, .alice]
    var configure: @Sendable (inout HTTPSession.Configuration, Person, Household) throws -> Void = { _, _, _ in }
    /// Has the session ask for this person from now on.
    var become: @Sendable (HTTPSession, Person, Household) throws -> Void = { _, _, _ in }
    var request: @Sendable (inout ImageDownloader.Request, Person) -> Void = { _, _ in }
}

/// Several people who ask one server for one URL, and keep pictures in one place.
final class Household: Sendable {
    let way: Way
    let painter: Painter
    let transport = MockTransport()
    let jar = CookieJar()
    let images: AutoPurgingImageCache
    let cache: HTTPSession.Cache?
    private let hasImages: Bool
    private let current = Mutex(Person.nobody)
    /// Where real connections go, by what they say of who asks.
    let servers: [String: LoopbackServer]
    private let downloaders = Mutex<[Person: ImageDownloader]>([:])

    /// `hasCache`: whether sessions have an HTTP cache, one for all. `hasImages`: whether the pictures are kept.
    init(
        _ way: Way, says: Says, hasCache: Bool = false, hasImages: Bool = true,
        _ change: (inout Painter.Rules) -> Void = { _ in }
    ) throws {
        self.hasImages = hasImages
        self.way = way
        var rules = Painter.Rules(
            fields: says.fields, redirect: way.redirect, gallery: way.gallery, challenge: way.challenge)
        if let varies = way.varies { rules.fields["Vary"] = varies }
        change(&rules)
        painter = Painter(rules)
        images = try AutoPurgingImageCache(capacity: 1 << 20, preferredUsage: 1 << 19, pressure: nil)
        cache = hasCache ? HTTPSession.Cache() : nil
        var servers: [String: LoopbackServer] = [:]
        for name in way.isReal ? ["alice", "bob", ""] : [] {
            let server = try way.isSecure ? Certificates.server() : LoopbackServer()
            painter.paint(for: server, named: name)
            servers[name] = server
        }
        self.servers = servers
        painter.paint(for: transport)
    }

    /// Who asks now.
    var asking: Person { current.withLock(\.self) }

    /// The URL that everybody asks for.
    var url: String { (servers[way.isSecure ? "" : "bob"]?.baseURL ?? "http://a.test") + "/cat" }

    func downloader(of person: Person) throws -> ImageDownloader {
        let owner = way.hasOwnSessions ? person : .nobody
        if let downloader = downloaders.withLock({ $0[owner] }) { return downloader }
        let downloader = ImageDownloader(session: try session(of: person), cache: hasImages ? images : nil)
        downloaders.withLock { $0[owner] = downloader }
        return downloader
    }

    func session(of person: Person) throws -> HTTPSession {
        var configuration = HTTPSession.Configuration(baseURL: "http://a.test")
        if !way.isReal { configuration.transport = transport }
        configuration.proxy = .none
        configuration.basicInClearText = .allowed
        configuration.cache = cache
        try way.configure(&configuration, person, self)
        return try HTTPSession(configuration)
    }

    func become(_ person: Person) throws {
        current.withLock { $0 = person }
        try way.become(try downloader(of: person).session, person, self)
    }

    func request(of person: Person) -> ImageDownloader.Request {
        var request = ImageDownloader.Request(.url(url))
        way.request(&request, person)
        return request
    }

    /// What the picture says that a person gets.
    func ask(_ person: Person) async throws -> String {
        try become(person)
        return try await askAgain(person).text
    }

    /// What the pictures say that people get one after the other.
    func ask(_ persons: [Person]) async throws -> [String] {
        var given: [String] = []
        for person in persons { given.append(try await ask(person)) }
        return given
    }

    /// Asks as whoever the sessions ask for already.
    func askAgain(_ person: Person) async throws -> (text: String, source: ImageDownloader.Response.Source) {
        let response = try await downloader(of: person).response(for: request(of: person))
        return (Painter.text(of: try await response.image), response.source)
    }

    func end() async {
        for downloader in downloaders.withLock(\.self).values { await downloader.session.shutdown() }
        for server in servers.values { server.stop() }
    }
}
