import Dunlin
import DunlinTesting
import Folders
import Synchronization
import Testing

/// A server may give what anybody gets and what a user gets one strong tag. A password that is known is not sent before
/// a server asks for it, and cookies come with a login: what came before is nobody's.
@Suite(.timeLimit(.minutes(10))) struct `A download and a login` {
    private static let length = 1 << 20
    private static let arrived = 100_000

    private static func entity(_ offset: Int) -> LoopbackServer.Entity {
        LoopbackServer.Entity(length: length, offset: offset, tag: #""one""#)
    }

    private static let (nobodys, adas) = (entity(0), entity(1))

    enum Login: CaseIterable, Sendable {
        case password, handler, jar

        func apply(to configuration: inout HTTPSession.Configuration) {
            configuration.basicInClearText = .allowed
            switch self {
            case .password: configuration.credentials = .password(user: "ada", password: "hunter2")
            case .handler:
                configuration.authenticationHandler = { challenge in
                    guard case .protectionSpace = challenge.kind else { return .performDefault }
                    return .useCredential(.password(user: "ada", password: "hunter2"))
                }
            case .jar: configuration.cookies = CookieJar()
            }
        }
    }

    /// The first answer with a file is cut short.
    private static func serve(_ stage: Stage) {
        let asked = Atomic(0)
        stage.server.respond { request in
            let isAda = request.fields.contains("Authorization") || request.fields.contains("Cookie")
            switch request.target {
            case "/login": return .response(fields: ["Set-Cookie": "user=ada"], body: "in")
            case "/private":
                let challenge: Fields = ["WWW-Authenticate": #"Basic realm="r""#]
                return isAda ? .response(body: "in") : .response(.unauthorized, fields: challenge)
            default:
                let isFirst = asked.add(1, ordering: .relaxed).oldValue == 0
                let entity = isAda ? adas : nobodys
                return isFirst ? entity.reply(to: request, .stall(after: arrived)) : entity.reply(to: request)
            }
        }
    }

    private static func logIn(_ login: Login, _ session: HTTPSession) async throws {
        _ = try await session.get(login == .jar ? "login" : "private", as: .bytes)
    }

    @Test(arguments: Login.allCases, [true, false])
    func `what came before a login is no part of what comes after it`(login: Login, byData: Bool) async throws {
        let folder = try Folder()
        try await Stage.with(tolerating: true, configure: { login.apply(to: &$0) }) { (stage: Stage) async throws in
            Self.serve(stage)
            let destination = HTTPSession.Destination.file("\(folder.path)/file")
            let task = try stage.session.downloadTask("file", to: destination, resuming: .ifValidatorMatches)
            task.resume()
            try await stage.eventually("much has come") { task.downloaded.wireBytes == Self.arrived }
            let data = try #require(await task.cancelProducingResumeData())
            try await Self.logIn(login, stage.session)
            let file =
                if byData {
                    try await stage.session.download(resumeData: data, to: destination).value
                } else {
                    try await stage.session.download("file", to: destination, resuming: .ifValidatorMatches).value
                }
            #expect(file.resumedAt == 0)
            #expect(try folder.contents("file") == Self.adas.bytes)
        }
    }

    @Test(arguments: Login.allCases) func `a download that breaks off begins anew after a login`(login: Login)
        async throws
    {
        let folder = try Folder()
        let clock = ManualClock()
        try await Stage.with(clock: clock, tolerating: true, configure: { login.apply(to: &$0) }) {
            (stage: Stage) async throws in
            Self.serve(stage)
            let options = HTTPSession.Options(timeouts: .init(readIdle: .value(.seconds(5))))
            let task = try stage.session.downloadTask("file", options: options, to: .file("\(folder.path)/file"))
            task.resume()
            try await stage.eventually("much has come") { task.downloaded.wireBytes == Self.arrived }
            try await Self.logIn(login, stage.session)
            try await clock.advance(by: .seconds(6), until: "the download is over") { task.resultIfEnded != nil }
            #expect(try await task.value.resumedAt == 0)
            #expect(try folder.contents("file") == Self.adas.bytes)
        }
    }

    /// The rest is not asked for as a user whom it is not for.
    @Test(arguments: Login.allCases) func `a cached beginning that nobody was sent is not completed for a user`(
        login: Login
    ) async throws {
        try await Stage.with(
            tolerating: true,
            configure: {
                login.apply(to: &$0)
                $0.cache = HTTPSession.Cache()
            }
        ) { (stage: Stage) async throws in
            let asked = Atomic(0)
            stage.server.respond { request in
                let isAda = request.fields.contains("Authorization") || request.fields.contains("Cookie")
                let challenge: Fields = ["WWW-Authenticate": #"Basic realm="r""#]
                switch request.target {
                case "/login": return .response(fields: ["Set-Cookie": "user=ada"], body: "in")
                case "/private": return isAda ? .response(body: "in") : .response(.unauthorized, fields: challenge)
                default:
                    let isFirst = asked.add(1, ordering: .relaxed).oldValue == 0
                    var entity = isAda ? Self.adas : Self.nobodys
                    entity.fields["Cache-Control"] = "max-age=1000"
                    return isFirst ? entity.reply(to: request, .short(after: Self.arrived)) : entity.reply(to: request)
                }
            }
            let error = try await NetworkError.thrown { _ = try await stage.session.get("file", as: .bytes) }
            #expect(error.code == .connectionClosed)
            try await Self.logIn(login, stage.session)
            #expect(try await stage.session.get("file", as: .bytes).value == Self.adas.bytes)
        }
    }

    @Test func `a cached beginning that nobody was sent is not completed with a request's own token`() async throws {
        try await Stage.with(tolerating: true, configure: { $0.cache = HTTPSession.Cache() }) {
            (stage: Stage) async throws in
            let asked = Atomic(0)
            stage.server.respond { request in
                let isAda = request.fields.contains("Authorization")
                var entity = isAda ? Self.adas : Self.nobodys
                entity.fields["Cache-Control"] = "max-age=1000"
                return asked.add(1, ordering: .relaxed).oldValue == 0
                    ? entity.reply(to: request, .short(after: Self.arrived)) : entity.reply(to: request)
            }
            _ = try await NetworkError.thrown { _ = try await stage.session.get("file", as: .bytes) }
            let options = HTTPSession.Options(credentials: .bearer(token: "ada"))
            #expect(try await stage.session.get("file", options: options, as: .bytes).value == Self.adas.bytes)
            #expect(try await stage.session.get("file", as: .bytes).value == Self.nobodys.bytes)
        }
    }

    /// The password stays with the origin that redirects.
    @Test func `what a redirect led to before a login is no part of what it leads to after it`() async throws {
        let folder = try Folder()
        let other = try LoopbackServer()
        defer { other.stop() }
        let asked = Atomic(0)
        other.respond { request in
            let entity = request.target.hasSuffix("ada") ? Self.adas : Self.nobodys
            return asked.add(1, ordering: .relaxed).oldValue == 0
                ? entity.reply(to: request, .stall(after: Self.arrived)) : entity.reply(to: request)
        }
        try await Stage.with(tolerating: true, configure: { Login.password.apply(to: &$0) }) {
            (stage: Stage) async throws in
            let base = other.baseURL
            stage.server.respond { request in
                let isAda = request.fields.contains("Authorization")
                if request.target == "/file" {
                    return .response(302, fields: ["Location": "\(base)/blob?for=\(isAda ? "ada" : "nobody")"])
                }
                let challenge: Fields = ["WWW-Authenticate": #"Basic realm="r""#]
                return isAda ? .response(body: "in") : .response(.unauthorized, fields: challenge)
            }
            let destination = HTTPSession.Destination.file("\(folder.path)/file")
            let task = try stage.session.downloadTask("file", to: destination, resuming: .ifValidatorMatches)
            task.resume()
            try await stage.eventually("much has come") { task.downloaded.wireBytes == Self.arrived }
            _ = await task.cancelProducingResumeData()
            try await Self.logIn(.password, stage.session)
            let file = try await stage.session.download("file", to: destination, resuming: .ifValidatorMatches).value
            #expect(file.resumedAt == 0)
            #expect(try folder.contents("file") == Self.adas.bytes)
        }
    }

    /// An interceptor sends each exchange as another user.
    @Test(arguments: ["", "Token ", "ApiKey ", "Bearer urn:token:"])
    func `a download that passes the cache by goes on with the same token alone`(scheme: String) async throws {
        let folder = try Folder()
        let number = Atomic(0)
        try await Stage.with(
            tolerating: true,
            configure: {
                $0.interceptors = [
                    .exchange { request, next in
                        let isAda = number.add(1, ordering: .relaxed).oldValue.isMultiple(of: 2)
                        return try await next(request) {
                            $0.head.fields["Authorization"] = scheme + (isAda ? "ada" : "bob")
                        }
                    }
                ]
            }
        ) { (stage: Stage) async throws in
            let asked = Atomic(0)
            stage.server.respond { request in
                let entity = request.fields["Authorization"] == "\(scheme)ada" ? Self.adas : Self.nobodys
                return asked.add(1, ordering: .relaxed).oldValue == 0
                    ? entity.reply(to: request, .short(after: Self.arrived)) : entity.reply(to: request)
            }
            let options = HTTPSession.Options(cacheMode: .value(.off))
            let path = "\(folder.path)/file"
            let file = try await stage.session.download("file", options: options, to: .file(path)).value
            #expect(file.resumedAt == 0)
            let contents = try folder.contents("file")
            #expect(contents == Self.adas.bytes || contents == Self.nobodys.bytes)
        }
    }
}
