import Dunlin
import DunlinTesting
import Folders
import Foundation
import Synchronization
import Testing

/// A server may give two users' files, and two origins' files, one strong tag. What is there of one is no part of the
/// other.
@Suite(.inClearAndOverTLS, .timeLimit(.minutes(10)))
struct `Whose bytes a download goes on with` {
    private static let length = 1 << 20
    private static let arrived = 100_000

    private static func entity(_ offset: Int) -> LoopbackServer.Entity {
        LoopbackServer.Entity(length: length, offset: offset, tag: #""one""#)
    }

    private static let (alices, bobs) = (entity(0), entity(1))

    /// Stops after some of it.
    private static func begun(_ entity: LoopbackServer.Entity, _ request: LoopbackServer.RecordedRequest)
        -> LoopbackServer.Reply
    { entity.reply(to: request, .stall(after: arrived)) }

    /// Begins and leaves what came: as data, and beside its destination.
    private static func leave(
        _ target: HTTP.Target = "file", by session: HTTPSession, _ options: HTTPSession.Options = .init(),
        in folder: Folder, _ stage: Stage, meanwhile: () throws -> Void = {}
    ) async throws -> ResumeData {
        let task = try session.downloadTask(
            target, options: options, to: .file("\(folder.path)/file"), resuming: .ifValidatorMatches)
        task.resume()
        try await stage.eventually("much has come") { task.downloaded.wireBytes == arrived }
        try meanwhile()
        return try #require(await task.cancelProducingResumeData())
    }

    /// Downloads what was left, and expects that it goes on with alice's file, or begins anew with bob's.
    private static func finish(by session: HTTPSession, in folder: Folder, isSame: Bool) async throws {
        let file = try await session.download(
            "file", to: .file("\(folder.path)/file"), resuming: .ifValidatorMatches
        ).value
        #expect(file.resumedAt == (isSame ? arrived : 0))
        #expect(try folder.contents("file") == (isSame ? alices : bobs).bytes)
    }

    enum Way: CaseIterable, Sendable {
        case field, assertion, cookie, jar, ownField, basic, password, handler, bearer, urlPassword
    }

    private static func session(_ user: String, by way: Way, _ stage: Stage) throws -> HTTPSession {
        var configuration = stage.session.configuration
        configuration.basicInClearText = .allowed
        if way == .handler || way == .bearer || way == .jar { configuration.userID = user }
        switch way {
        case .field: configuration.fields["X-Api-Key"] = user
        case .assertion: configuration.fields["Cf-Access-Jwt-Assertion"] = user
        case .cookie: configuration.originFields["Cookie"] = "user=\(user)"
        case .jar:
            let jar = CookieJar()
            try jar.set(HTTP.Cookie(name: "user", value: user, domain: stage.server.address.host))
            configuration.cookies = jar
        case .basic: configuration.credentials = .basic(user: user, password: "pw")
        case .password: configuration.credentials = .password(user: user, password: "pw")
        case .handler:
            configuration.authenticationHandler = { challenge in
                guard case .protectionSpace = challenge.kind else { return .performDefault }
                return .useCredential(.password(user: user, password: "pw"))
            }
        case .bearer: configuration.authentication = .bearer(.init(user)) { _ in .init(user) }
        case .ownField, .urlPassword: break
        }
        return try HTTPSession(configuration)
    }

    private static func options(_ user: String, by way: Way) -> HTTPSession.Options {
        way == .ownField ? .init(fields: ["Authorization": user]) : .init()
    }

    private static func target(_ user: String, by way: Way, _ stage: Stage) -> HTTP.Target {
        way == .urlPassword ? .url(stage.server.baseURL.replacing("://", with: "://\(user):pw@") + "/file") : "file"
    }

    /// Who asks; nil for nobody.
    private static func user(of request: LoopbackServer.RecordedRequest) -> String? {
        let names = ["x-api-key", "cf-access-jwt-assertion", "cookie", "authorization"]
        let said = names.compactMap { request.fields[$0] }.first
        guard let said else { return nil }
        let basic = said.hasPrefix("Basic ") ? Data(base64Encoded: String(said.dropFirst(6))) : nil
        let name = basic.map { String(decoding: $0, as: UTF8.self) } ?? said
        return name.contains("alice") ? "alice" : name.contains("bob") ? "bob" : nil
    }

    private static func serve(_ stage: Stage) {
        let isFirst = Mutex(true)
        stage.server.respond { request in
            guard let user = user(of: request) else {
                return .response(401, fields: ["WWW-Authenticate": "Basic realm=r"])
            }
            let entity = user == "alice" ? alices : bobs
            let begins = isFirst.withLock { isFirst in
                defer { isFirst = false }
                return isFirst
            }
            return begins ? begun(entity, request) : entity.reply(to: request)
        }
    }

    @Test(arguments: Way.allCases, [true, false])
    func `a download of one user begins anew for another, whatever the tag says`(way: Way, byData: Bool) async throws {
        let folder = try Folder()
        try await Stage.with(tolerating: true) { (stage: Stage) async throws in
            Self.serve(stage)
            let alice = try Self.session("alice", by: way, stage)
            let data = try await Self.leave(
                Self.target("alice", by: way, stage), by: alice, Self.options("alice", by: way), in: folder, stage)
            let stored = String(decoding: try JSONEncoder().encode(data), as: UTF8.self)
            #expect(!"\(data)".contains("alice") && !stored.contains("alice"))
            let bob = try Self.session("bob", by: way, stage)
            let (target, options) = (Self.target("bob", by: way, stage), Self.options("bob", by: way))
            let destination = HTTPSession.Destination.file("\(folder.path)/file")
            let file =
                if byData {
                    try await bob.download(resumeData: data, from: target, options: options, to: destination).value
                } else {
                    try await bob.download(target, options: options, to: destination, resuming: .ifValidatorMatches)
                        .value
                }
            #expect(file.resumedAt == 0)
            #expect(try folder.contents("file") == Self.bobs.bytes)
            await alice.shutdown()
            await bob.shutdown()
        }
    }

    enum Terms: CaseIterable, Sendable {
        case guarded, overridden, trusting
    }

    /// A name may lead to another server, and one that somebody else believed need not be believed.
    @Test(arguments: Terms.allCases) func `a download under other terms begins anew, whatever the tag says`(
        terms: Terms
    ) async throws {
        let folder = try Folder()
        try await Stage.with(tolerating: true) { (stage: Stage) async throws in
            Self.serve(stage)
            let first = try Self.session("alice", by: .basic, stage)
            _ = try await Self.leave("file", by: first, in: folder, stage)
            var configuration = first.configuration
            switch terms {
            case .guarded:
                configuration.guard = .publicInternet
                configuration.guard?.allowedAddresses = ["127.0.0.0/8", "::1/128"]
            case .overridden: configuration.hostOverrides[stage.server.address.host] = stage.server.address
            case .trusting: configuration.tls.policy = .insecure
            }
            let second = try HTTPSession(configuration)
            let file = try await second.download(
                "file", to: .file("\(folder.path)/file"), resuming: .ifValidatorMatches
            ).value
            // In clear text nobody is trusted.
            let isSame = terms == .trusting && !stage.server.baseURL.hasPrefix("https")
            #expect((file.resumedAt == 0) != isSame)
            #expect(try folder.contents("file") == Self.alices.bytes)
            await first.shutdown()
            await second.shutdown()
        }
    }

    /// Where only a session's code knows who its user is, its configuration names that.
    @Test(arguments: Way.allCases)
    func `the same user goes on, in another session too`(way: Way) async throws {
        let folder = try Folder()
        try await Stage.with(tolerating: true) { (stage: Stage) async throws in
            Self.serve(stage)
            let (first, second) = (
                try Self.session("alice", by: way, stage), try Self.session("alice", by: way, stage)
            )
            let (target, options) = (Self.target("alice", by: way, stage), Self.options("alice", by: way))
            _ = try await Self.leave(target, by: first, options, in: folder, stage)
            let file = try await second.download(
                target, options: options, to: .file("\(folder.path)/file"), resuming: .ifValidatorMatches
            ).value
            #expect(file.resumedAt == Self.arrived)
            #expect(try folder.contents("file") == Self.alices.bytes)
            await first.shutdown()
            await second.shutdown()
        }
    }

    enum Rule: CaseIterable, Sendable {
        case ofSession, ofRequest, ofBoth
    }

    /// What is stored may be sent anywhere later.
    @Test(arguments: Rule.allCases)
    func `a field that no redirect takes along is not stored, and no other origin gets it`(rule: Rule) async throws {
        let folder = try Folder()
        var policy = HTTPSession.RedirectPolicy()
        policy.secretFields = ["X-Tenant"]
        var options = HTTPSession.Options(fields: ["X-Tenant": "hunter2", "X-Own": "visible"])
        if rule != .ofSession { options.redirects = .value(policy) }
        let ofSession = rule == .ofRequest ? HTTPSession.RedirectPolicy() : policy
        try await Stage.with(tolerating: true, configure: { $0.redirects = ofSession }) {
            (stage: Stage) async throws in
            let other = try Stage.makeServer()
            defer { other.stop() }
            other.respond { Self.bobs.reply(to: $0) }
            stage.server.respond { Self.begun(Self.alices, $0) }
            let data = try await Self.leave(by: stage.session, options, in: folder, stage)
            #expect(data.fields["x-tenant"] == nil && data.fields["x-own"] == "visible")
            #expect(try folder.names().allSatisfy { !folder.text(of: $0).contains("hunter2") })
            try await stage.session.download(
                resumeData: data, from: .url("\(other.baseURL)/file"), to: .file("\(folder.path)/other"))
            #expect(other.requests.allSatisfy { !$0.fields.contains("x-tenant") })
        }
    }

    @Test func `data for one origin takes no field to another that no redirect would`() async throws {
        let folder = try Folder()
        try await Stage.with(tolerating: true) { (stage: Stage) async throws in
            let other = try Stage.makeServer()
            defer { other.stop() }
            for server in [stage.server, other] { server.respond { Self.alices.reply(to: $0) } }
            _ = try folder.write(Self.alices.bytes[..<1000], as: "part")
            let data = try await ResumeData(
                partialFile: "\(folder.path)/part", of: "\(stage.server.baseURL)/file", entityTag: #""one""#,
                fields: ["X-Tenant": "hunter2", "X-Own": "visible"])
            var policy = HTTPSession.RedirectPolicy()
            policy.secretFields = ["X-Tenant"]
            try await stage.session.download(
                resumeData: data, from: .url("\(other.baseURL)/file"), options: .init(redirects: .value(policy)),
                to: .file("\(folder.path)/file"))
            let request = try #require(other.requests.first)
            #expect(!request.fields.contains("x-tenant") && request.fields["x-own"] == "visible")
        }
    }

    @Test func `what was asked of one Host is begun anew when another is asked`() async throws {
        let folder = try Folder()
        try await Stage.with(tolerating: true) { (stage: Stage) async throws in
            let isFirst = Mutex(true)
            stage.server.respond { request in
                let begins = isFirst.withLock { isFirst in
                    defer { isFirst = false }
                    return isFirst
                }
                let entity = request.fields["host"] == "a.test" ? Self.alices : Self.bobs
                return begins ? Self.begun(entity, request) : entity.reply(to: request)
            }
            let (one, other) = (
                HTTPSession.Options(fields: ["Host": "a.test"]), HTTPSession.Options(fields: ["Host": "b.test"])
            )
            _ = try await Self.leave(by: stage.session, one, in: folder, stage)
            let file = try await stage.session.download(
                "file", options: other, to: .file("\(folder.path)/file"), resuming: .ifValidatorMatches
            ).value
            #expect(file.resumedAt == 0)
            #expect(try folder.contents("file") == Self.bobs.bytes)
        }
    }

    @Test func `a session goes on with another token of its user's`() async throws {
        let folder = try Folder()
        try await Stage.with(tolerating: true) { (stage: Stage) async throws in
            let isOld = Mutex(true)
            stage.server.respond { request in
                let token = request.fields["authorization"]
                return isOld.withLock { isOld in
                    if token != (isOld ? "Bearer old" : "Bearer new") { return .response(401) }
                    defer { isOld = false }
                    return isOld ? Self.begun(Self.alices, request) : Self.alices.reply(to: request)
                }
            }
            var configuration = stage.session.configuration
            configuration.authentication = .bearer("old") { _ in "new" }
            let session = try HTTPSession(configuration)
            let data = try await Self.leave(by: session, in: folder, stage)
            let file = try await session.download(resumeData: data, to: .file("\(folder.path)/file")).value
            #expect(file.resumedAt == Self.arrived)
            #expect(try folder.contents("file") == Self.alices.bytes)
            await session.shutdown()
        }
    }

    enum Cookies: CaseIterable, Sendable {
        case sameJar, otherJar, removed, removedMeanwhile, changed
    }

    @Test(arguments: [true, false]) func `a download goes on with the jar's first cookie, which it was answered with`(
        byData: Bool
    ) async throws {
        let folder = try Folder()
        try await Stage.with(tolerating: true, configure: { $0.cookies = CookieJar() }) { (stage: Stage) async throws in
            stage.server.respond { request in
                var entity = Self.alices
                entity.fields["Set-Cookie"] = "visit=1"
                return request.fields.contains("cookie") ? entity.reply(to: request) : Self.begun(entity, request)
            }
            let data = try await Self.leave(by: stage.session, in: folder, stage)
            let destination = HTTPSession.Destination.file("\(folder.path)/file")
            let file =
                if byData {
                    try await stage.session.download(resumeData: data, to: destination).value
                } else {
                    try await stage.session.download("file", to: destination, resuming: .ifValidatorMatches).value
                }
            #expect(file.resumedAt == Self.arrived)
            #expect(try folder.contents("file") == Self.alices.bytes)
        }
    }

    @Test(arguments: Cookies.allCases) func `a download with a jar's cookies goes on with that jar alone`(
        cookies: Cookies
    ) async throws {
        let folder = try Folder()
        try await Stage.with(tolerating: true) { (stage: Stage) async throws in
            Self.serve(stage)
            func jar(_ user: String) throws -> CookieJar {
                let jar = CookieJar()
                try jar.set(HTTP.Cookie(name: "user", value: user, domain: stage.server.address.host))
                return jar
            }
            var configuration = stage.session.configuration
            let first = try jar("alice")
            configuration.cookies = first
            let alice = try HTTPSession(configuration)
            func becomeBob() throws {
                first.removeAll()
                try first.set(HTTP.Cookie(name: "user", value: "bob", domain: stage.server.address.host))
            }
            _ = try await Self.leave(by: alice, in: folder, stage) {
                if cookies == .removedMeanwhile { try becomeBob() }
            }
            switch cookies {
            case .sameJar, .removedMeanwhile: break
            case .otherJar: configuration.cookies = try jar("bob")
            case .removed: try becomeBob()
            // Servers change them with each response.
            case .changed: try first.set(HTTP.Cookie(name: "visit", value: "2", domain: stage.server.address.host))
            }
            let second = try HTTPSession(configuration)
            try await Self.finish(by: second, in: folder, isSame: cookies == .sameJar || cookies == .changed)
            await alice.shutdown()
            await second.shutdown()
        }
    }

    /// The first response sets the jar's first cookie, and each other one removes it and sets it again.
    @Test(arguments: [1, 4]) func `cookies that come and go while a session downloads do not have it start over`(
        segments: Int
    ) async throws {
        let folder = try Folder()
        let clock = ManualClock()
        try await Stage.with(clock: clock, tolerating: true, configure: { $0.cookies = CookieJar() }) {
            (stage: Stage) async throws in
            stage.server.respond { request in
                let isKnown = request.fields["cookie"] != nil
                var entity = Self.alices
                entity.fields["Set-Cookie"] = isKnown ? "a=; Max-Age=0" : "a=1"
                return segments == 1
                    ? entity.reply(to: request, .short(after: Self.arrived)) : entity.reply(to: request)
            }
            var transfer = HTTPSession.DownloadOptions()
            if segments > 1 { transfer.segments = HTTPSession.Segments(segments, minimumLength: 65_536) }
            let task = try stage.session.downloadTask("file", to: .file("\(folder.path)/file"), transfer: transfer)
            task.resume()
            try await clock.advance(by: .seconds(1), until: "the download is over") { task.resultIfEnded != nil }
            #expect(try await task.value.byteCount == Self.length)
            #expect(try folder.contents("file") == Self.alices.bytes)
            let ranges = stage.server.requests.map { $0.fields["range"] }
            #expect(ranges.filter { $0 == nil }.count == 1)
        }
    }

    /// Two resources of one server may have one tag: nginx makes it of time and length.
    @Test(arguments: [
        ("/a", "/b", false), ("/a", "/a", true), ("/a?Signature=1", "/a?Signature=2", true),
        ("/a?Signature=1", "/b?Signature=2", false),
    ])
    func `a download goes on only at the path to which it was redirected, whatever the query`(
        before: String, after: String, isSame: Bool
    ) async throws {
        let folder = try Folder()
        try await Stage.with(tolerating: true) { (stage: Stage) async throws in
            let count = Mutex(0)
            stage.server.respond { request in
                if request.target.hasSuffix("file") {
                    return .response(302, fields: ["Location": count.withLock(\.self) == 0 ? before : after])
                }
                let isFirst = count.withLock { count in
                    count += 1
                    return count == 1
                }
                let entity = isFirst || isSame ? Self.alices : Self.bobs
                return isFirst ? Self.begun(entity, request) : entity.reply(to: request)
            }
            _ = try await Self.leave(by: stage.session, in: folder, stage)
            try await Self.finish(by: stage.session, in: folder, isSame: isSame)
        }
    }

    enum Detour: CaseIterable, Sendable {
        case path, host
    }

    @Test(arguments: Detour.allCases, [true, false])
    func `a download goes on only at the path and Host to which an interceptor sent it`(detour: Detour, isSame: Bool)
        async throws
    {
        for isAroundCall in [true, false] {
            try await Self.detour(detour, isSame: isSame, isAroundCall: isAroundCall)
        }
    }

    private static func detour(_ detour: Detour, isSame: Bool, isAroundCall: Bool) async throws {
        let folder = try Folder()
        let count = Atomic(0)
        let lead: HTTPSession.Interception.Intercept = { request, next in
            let number = count.add(1, ordering: .relaxed).newValue
            let name = number == 1 || isSame ? "a" : "b"
            return try await next(request) { changed in
                switch detour {
                case .path: changed.head.target = "/\(name)"
                case .host: changed.head.fields["Host"] = name
                }
            }
        }
        try await Stage.with(tolerating: true) { configuration in
            configuration.interceptors = [isAroundCall ? .call(lead) : .exchange(lead)]
        } _: { (stage: Stage) async throws in
            let isUntouched = Mutex(true)
            stage.server.respond { request in
                let begins = isUntouched.withLock { isUntouched in
                    defer { isUntouched = false }
                    return isUntouched
                }
                let isFirst = request.target == "/a" || request.fields["host"] == "a"
                let entity = isFirst ? alices : bobs
                return begins ? begun(entity, request) : entity.reply(to: request)
            }
            _ = try await leave(by: stage.session, in: folder, stage)
            try await finish(by: stage.session, in: folder, isSame: isSame)
        }
    }

    /// Leads the first request to the first server, and all that follow to the second.
    private static func lead(_ stage: Stage, to others: [LoopbackServer]) {
        let count = Mutex(0)
        stage.server.respond { _ in
            let index = count.withLock { count in
                defer { count += 1 }
                return min(count, 1)
            }
            return .response(302, fields: ["Location": "\(others[index].baseURL)/file"])
        }
    }

    @Test(arguments: [true, false])
    func `what one origin sent is no part of another's that a redirect leads to`(byData: Bool) async throws {
        let folder = try Folder()
        try await Stage.with(tolerating: true) { (stage: Stage) async throws in
            let others = try [Stage.makeServer(), Stage.makeServer()]
            defer { for other in others { other.stop() } }
            others[0].respond { Self.begun(Self.alices, $0) }
            others[1].respond { Self.bobs.reply(to: $0) }
            Self.lead(stage, to: others)
            let data = try await Self.leave(by: stage.session, in: folder, stage)
            let destination = HTTPSession.Destination.file("\(folder.path)/file")
            let file =
                if byData {
                    try await stage.session.download(resumeData: data, to: destination).value
                } else {
                    try await stage.session.download("file", to: destination, resuming: .ifValidatorMatches).value
                }
            #expect(file.resumedAt == 0)
            #expect(try folder.contents("file") == Self.bobs.bytes)
            #expect(others[1].requests.map { $0.fields["range"] } == ["bytes=\(Self.arrived)-", nil])
        }
    }

    @Test func `a body that breaks goes on at no other origin`() async throws {
        let folder = try Folder()
        let clock = ManualClock()
        try await Stage.with(clock: clock, tolerating: true) { (stage: Stage) async throws in
            let others = try [Stage.makeServer(), Stage.makeServer()]
            defer { for other in others { other.stop() } }
            others[0].respond { Self.alices.reply(to: $0, .short(after: Self.arrived)) }
            others[1].respond { Self.bobs.reply(to: $0) }
            Self.lead(stage, to: others)
            let task = try stage.session.downloadTask("file", to: .file("\(folder.path)/file"))
            task.resume()
            try await clock.advance(by: .seconds(1), until: "the download is over") { task.resultIfEnded != nil }
            #expect(try await task.value.byteCount == Self.length)
            #expect(try folder.contents("file") == Self.bobs.bytes)
        }
    }
}
