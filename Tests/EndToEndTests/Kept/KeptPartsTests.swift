import Dunlin
import DunlinTesting
import Folders
import Synchronization
import Testing

private let length = 1 << 20
private let arrived = 100_000
private let alices = LoopbackServer.Entity(length: length, offset: 0, tag: #""one""#)
private let bobs = LoopbackServer.Entity(length: length, offset: 1, tag: #""one""#)

/// A server gives the files of all who ask one strong tag. Nobody is given the beginning of one file and the rest of
/// another.
@Suite(.timeLimit(.minutes(10))) struct `Who is given kept parts of files` {
    enum Person: String, Sendable {
        case alice, bob
    }

    /// What a server does with a request for a file: a reply of its own, or the file of somebody.
    enum Answer: Sendable {
        case reply(LoopbackServer.Reply)
        case file(Person, LoopbackServer.Entity? = nil)
    }

    /// A way by which requests say who asks, or are led to somebody's file.
    struct Way: Sendable, CustomTestStringConvertible {
        let testDescription: String
        /// Whether alice and bob have a session each; if not, one session asks for both.
        var hasOwnSessions = false
        /// Whether what is asked later in one download may be bob's.
        var changesOnTheWay = false
        var configure: @Sendable (inout HTTPSession.Configuration, Person, World) throws -> Void
        var answer: @Sendable (LoopbackServer.RecordedRequest, _ server: String, World) -> Answer
    }

    /// Servers that are `origin`, `alice` and `bob`, of which the last two may be proxies, or where redirects lead.
    final class World: Sendable {
        let way: Way
        let servers: [String: LoopbackServer]
        let state = Mutex<(current: Person, filesAsked: Int, redirects: Int)>((.alice, 0, 0))
        let gate = LoopbackServer.Gate()

        init(_ way: Way) throws {
            self.way = way
            servers = try ["origin", "alice", "bob"].reduce(into: [:]) { $0[$1] = try LoopbackServer() }
        }

        var current: Person {
            get { state.withLock(\.current) }
            set { state.withLock { $0.current = newValue } }
        }

        func url(_ server: String, user: String? = nil) -> String {
            let url = servers[server]?.baseURL ?? ""
            return user.map { url.replacing("http://", with: "http://\($0):pw@") } ?? url
        }

        func session(_ person: Person, _ clock: ManualClock? = nil) throws -> HTTPSession {
            var configuration = HTTPSession.Configuration(baseURL: url("origin"))
            configuration.timeouts = .patient
            configuration.proxy = .none
            configuration.basicInClearText = .allowed
            if let clock { try configuration.use(clock) }
            try way.configure(&configuration, person, self)
            return try HTTPSession(configuration)
        }

        /// The first answer with a file is replied to by `begin`, and all others by `goOn`.
        func serve(
            begin: @escaping @Sendable (LoopbackServer.Entity, LoopbackServer.RecordedRequest) -> LoopbackServer.Reply,
            goOn: @escaping @Sendable (LoopbackServer.Entity, LoopbackServer.RecordedRequest) -> LoopbackServer.Reply =
                {
                    $0.reply(to: $1)
                }
        ) {
            for (name, server) in servers {
                server.respond { [self] request in
                    switch way.answer(request, name, self) {
                    case .reply(let reply): return reply
                    case .file(let person, let entity):
                        let isFirst = state.withLock { state in
                            state.filesAsked += 1
                            return state.filesAsked == 1
                        }
                        let entity = entity ?? (person == .alice ? alices : bobs)
                        if isFirst, way.changesOnTheWay { current = .bob }
                        return isFirst ? begin(entity, request) : goOn(entity, request)
                    }
                }
            }
        }

        func end() { for server in servers.values { server.stop() } }
    }

    /// Whose file it is.
    private static func whose(_ folder: Folder) throws -> String {
        switch try folder.contents("file") {
        case alices.bytes: "alice's"
        case bobs.bytes: "bob's"
        default: "a mixture"
        }
    }

    // MARK: - Who asks after a part was left

    @Test(arguments: Way.all, [true, false])
    func `whoever asks after another's file was left in the middle is given their own`(way: Way, byData: Bool)
        async throws
    {
        try await holding("\(way.testDescription), \(byData ? "resume data" : "a part file")") {
            let (folder, world) = (try Folder(), try World(way))
            defer { world.end() }
            world.serve(begin: { $0.reply(to: $1, .stall(after: arrived)) })
            let destination = HTTPSession.Destination.file("\(folder.path)/file")
            let alice = try world.session(.alice)
            let task = try alice.downloadTask(
                .url(world.url("origin") + "/file"), to: destination, resuming: .ifValidatorMatches)
            task.resume()
            try await eventually("much has come") { task.downloaded.wireBytes == arrived }
            let data = try #require(await task.cancelProducingResumeData())
            world.current = .bob
            let bob = way.hasOwnSessions ? try world.session(.bob) : alice
            if byData {
                _ = try await bob.download(resumeData: data, to: destination)
            } else {
                _ = try await bob.download(
                    .url(world.url("origin") + "/file"), to: destination, resuming: .ifValidatorMatches)
            }
            let whose = try Self.whose(folder)
            #expect(whose == "bob's")
            await alice.shutdown()
            await bob.shutdown()
        }
    }

    // MARK: - What changes in one download

    @Test(arguments: Way.all.filter(\.changesOnTheWay))
    func `a download that breaks off goes on with nobody else's`(way: Way) async throws {
        try await holding("\(way.testDescription), on its way") {
            let (folder, world, clock) = (try Folder(), try World(way), ManualClock())
            defer { world.end() }
            world.serve(begin: { $0.reply(to: $1, .short(after: arrived)) })
            let session = try world.session(.alice, clock)
            let task = try session.downloadTask(.url(world.url("origin") + "/file"), to: .file("\(folder.path)/file"))
            task.resume()
            try await clock.advance(by: .seconds(1), until: "the download is over") { task.resultIfEnded != nil }
            _ = try await task.value
            let whose = try Self.whose(folder)
            #expect(whose == "bob's")
            await session.shutdown()
        }
    }

    /// The first answer is held until a part was asked for as bob.
    @Test(arguments: Way.all.filter(\.changesOnTheWay))
    func `segments bring nothing of anybody else's`(way: Way) async throws {
        try await holding("\(way.testDescription), segments") {
            let (folder, world) = (try Folder(), try World(way))
            defer { world.end() }
            let gate = world.gate
            world.serve {
                let start = $0.reply(to: $1, .stall(after: arrived)).steps.dropLast()
                return LoopbackServer.Reply(
                    start + [.waitForSignal(gate), .generated($0.offset + arrived..<$0.offset + length)])
            } goOn: {
                $0.reply(to: $1).after(.signal(gate))
            }
            let session = try world.session(.alice)
            var options = HTTPSession.DownloadOptions()
            options.segments = HTTPSession.Segments(3, minimumLength: 64 << 10)
            let task = try session.downloadTask(
                .url(world.url("origin") + "/file"), to: .file("\(folder.path)/file"), transfer: options)
            _ = try await task.value
            let whose = try Self.whose(folder)
            #expect(whose == "alice's")
            await session.shutdown()
        }
    }
}

// MARK: - The ways

extension `Who is given kept parts of files`.Way {
    static let all = proxies + [baseURL, handlerBetween, cookiesOfRedirects]

    private static func person(_ said: String?) -> `Who is given kept parts of files`.Person {
        // "bob:pw"
        said == "Basic Ym9iOnB3" ? .bob : .alice
    }

    private static let proxies: [Self] = [
        Self(
            testDescription: "a chosen proxy's user", changesOnTheWay: true,
            configure: { configuration, _, world in
                configuration.proxy = .by { _ in .url(world.url("alice", user: world.current.rawValue)) }
            }, answer: { request, _, _ in .file(person(request.fields["proxy-authorization"])) }),
        Self(
            testDescription: "a chosen proxy", changesOnTheWay: true,
            configure: { configuration, _, world in
                configuration.proxy = .by { _ in .url(world.url(world.current.rawValue)) }
            }, answer: { _, server, _ in .file(server == "bob" ? .bob : .alice) }),
        Self(
            testDescription: "a proxy that is chosen or not", changesOnTheWay: true,
            configure: { configuration, _, world in
                configuration.proxy = .by { _ in world.current == .alice ? .url(world.url("alice")) : .none }
            }, answer: { _, server, _ in .file(server == "alice" ? .alice : .bob) }),
        Self(
            testDescription: "sessions with a proxy's user", hasOwnSessions: true,
            configure: { configuration, person, world in
                configuration.proxy = .url(world.url("alice", user: person.rawValue))
            }, answer: { request, _, _ in .file(person(request.fields["proxy-authorization"])) }),
        Self(
            testDescription: "sessions with a proxy", hasOwnSessions: true,
            configure: { configuration, person, world in configuration.proxy = .url(world.url(person.rawValue)) },
            answer: { _, server, _ in .file(server == "bob" ? .bob : .alice) }),
    ]

    /// Only alice's credentials are for the server.
    private static let baseURL = Self(
        testDescription: "sessions with equal credentials for other base URLs", hasOwnSessions: true,
        configure: { configuration, person, world in
            configuration.baseURL = world.url(person == .alice ? "origin" : "bob")
            configuration.credentials = .basic(user: "bob", password: "pw")
        }, answer: { request, _, _ in .file(request.fields.contains("authorization") ? .alice : .bob) })

    /// A server between asks who it is, and leads each to their file. The program says that both have one name.
    private static let handlerBetween = Self(
        testDescription: "sessions with a handler for a hop between, and one userID", hasOwnSessions: true,
        configure: { configuration, person, _ in
            configuration.userID = "the same"
            configuration.authenticationHandler = { challenge in
                guard case .protectionSpace = challenge.kind else { return .performDefault }
                return .useCredential(.password(user: person.rawValue, password: "pw"))
            }
        },
        answer: { request, server, world in
            switch (server, request.target) {
            case ("origin", "/file"): return .reply(.response(302, fields: ["Location": world.url("alice") + "/who"]))
            case ("alice", _):
                guard let said = request.fields["authorization"] else {
                    return .reply(.response(401, fields: ["WWW-Authenticate": "Basic realm=r"]))
                }
                let location = world.url("origin") + "/of?\(person(said))"
                return .reply(.response(302, fields: ["Location": location]))
            default: return .file(request.target.hasSuffix("bob") ? .bob : .alice)
            }
        })

    /// Each redirect sets another cookie, and the file is another for each.
    private static let cookiesOfRedirects = Self(
        testDescription: "a redirect that sets a new cookie each time, Vary: Cookie", changesOnTheWay: true,
        configure: { configuration, _, _ in configuration.cookies = CookieJar() },
        answer: { request, _, world in
            guard request.target == "/of" else {
                let number = world.state.withLock { state in
                    state.redirects += 1
                    return state.redirects
                }
                return .reply(.response(302, fields: ["Location": "/of", "Set-Cookie": "form=\(number)"]))
            }
            let person = request.fields["cookie"] == "form=1" ? `Who is given kept parts of files`.Person.alice : .bob
            var entity = person == .alice ? alices : bobs
            entity.fields = ["Vary": "Cookie"]
            return .file(person, entity)
        })
}
