import Dunlin
import DunlinTesting
import Folders
import Synchronization
import Testing

/// What is the same user's in spite of what happens on the way goes on.
@Suite(.timeLimit(.minutes(10))) struct `What goes on with its own part` {
    private static let arrived = 300_000
    private static let publicly: Fields = ["Cache-Control": "public, max-age=60"]

    /// What is left of a download that is cancelled when so many bytes have come.
    private static func left(
        _ stage: Stage, _ folder: Folder, _ arrived: Int, _ options: HTTPSession.Options = HTTPSession.Options()
    ) async throws -> ResumeData {
        let task = try stage.session.downloadTask("file", options: options, to: .file("\(folder.path)/file"))
        task.resume()
        try await stage.eventually("much has come") { task.downloaded.wireBytes == arrived }
        return try #require(await task.cancelProducingResumeData())
    }

    /// Leaves a download midway, and continues it. Returns where it went on.
    private static func resumed(_ stage: Stage, _ file: ServedFile) async throws -> Int? {
        let folder = try Folder()
        let data = try await left(stage, folder, arrived)
        let response = try await stage.session.download(resumeData: data, to: .file("\(folder.path)/file"))
        #expect(try folder.contents("file") == file.contents)
        return response.value.resumedAt
    }

    private static func stalled() -> ServedFile {
        let file = ServedFile(1 << 20)
        file.change { $0.faults = [.stall(after: arrived)] }
        return file
    }

    @Test func `a file behind a redirect that the cache has goes on for a jar with cookies`() async throws {
        let (file, jar) = (Self.stalled(), CookieJar())
        try await Stage.with(
            tolerating: true,
            configure: {
                $0.cookies = jar
                $0.cache = HTTPSession.Cache(.standard)
            }
        ) { (stage: Stage) async throws in
            try jar.receive(["Set-Cookie": "user=alice"], from: stage.server.baseURL)
            let asked = Atomic(0)
            stage.server.respond { request in
                if request.target != "/file" { return file.reply(to: request) }
                asked.add(1, ordering: .relaxed)
                return .response(302, fields: ["Location": "/blob", "Cache-Control": "max-age=600"])
            }
            #expect(try await Self.resumed(stage, file) == Self.arrived)
            #expect(asked.load(ordering: .relaxed) == 1)
        }
    }

    @Test func `a file goes on whose first answer was a challenge with a cookie`() async throws {
        let (file, jar) = (Self.stalled(), CookieJar())
        try await Stage.with(
            tolerating: true,
            configure: {
                $0.cookies = jar
                $0.basicInClearText = .allowed
                $0.credentials = .password(user: "alice", password: "pw")
            }
        ) { (stage: Stage) async throws in
            stage.server.respond { request in
                if request.fields["authorization"] != nil { return file.reply(to: request) }
                return .response(
                    401, fields: ["WWW-Authenticate": #"Basic realm="r""#, "Set-Cookie": "session=1"])
            }
            #expect(try await Self.resumed(stage, file) == Self.arrived)
        }
    }

    /// What comes of the first request is no part of what comes of the second.
    @Test func `a file goes on that an interceptor asked for twice`() async throws {
        let file = Self.stalled()
        let refuses = Atomic(true)
        try await Stage.with(
            tolerating: true,
            configure: {
                $0.interceptors = [
                    .call { request, next in
                        let response = try await next(request)
                        return response.head.status == 503 ? try await next(request) : response
                    }
                ]
            }
        ) { (stage: Stage) async throws in
            stage.server.respond { request in
                let isRefused = refuses.exchange(false, ordering: .relaxed)
                return isRefused ? .response(503) : file.reply(to: request)
            }
            #expect(try await Self.resumed(stage, file) == Self.arrived)
        }
    }

    @Test func `a download that a hook makes of a response goes on after a break`() async throws {
        let (file, folder, clock) = (ServedFile(1 << 20, cuts: [Self.arrived]), try Folder(), ManualClock())
        try await Stage.with(clock: clock, tolerating: true) { (stage: Stage) async throws in
            file.serve(on: stage)
            var options = HTTPSession.Options()
            options.hooks.response = { _, _ in .download(to: .file("\(folder.path)/file")) }
            let task = try stage.session.task("file", options: options, as: .bytes)
            task.resume()
            try await clock.advance(by: .seconds(1), until: "the download is over") { task.resultIfEnded != nil }
            _ = try await task.value
            #expect(try folder.contents("file") == file.contents)
            #expect(stage.server.requests.map { $0.fields["range"] } == [nil, "bytes=\(Self.arrived)-"])
        }
    }

    /// Before a login nobody asks, and the answer sets a cookie that says nothing of it.
    @Test(arguments: [true, false])
    func `a file goes on after its own first cookie, and not after a login`(logsIn: Bool) async throws {
        let (file, jar) = (Self.stalled(), CookieJar())
        try await Stage.with(tolerating: true, configure: { $0.cookies = jar }) { (stage: Stage) async throws in
            stage.server.respond { request in
                if request.target == "/blob" { return file.reply(to: request) }
                return .response(302, fields: ["Location": "/blob", "Set-Cookie": "turn=1; Path=/blob"])
            }
            let folder = try Folder()
            let data = try await Self.left(stage, folder, Self.arrived)
            if logsIn { try jar.receive(["Set-Cookie": "user=alice"], from: stage.server.baseURL) }
            let response = try await stage.session.download(resumeData: data, to: .file("\(folder.path)/file"))
            #expect(response.value.resumedAt == (logsIn ? 0 : Self.arrived))
        }
    }

    /// Nobody's file is stored, and the user's server confirms it by its tag.
    @Test func `a file does not go on with nobody's that the user's server has confirmed`() async throws {
        let (alices, nobodys) = (
            LoopbackServer.Entity(length: 1 << 18, offset: 1, tag: #""one""#),
            LoopbackServer.Entity(length: 1 << 18, offset: 0, tag: #""one""#)
        )
        let (folder, jar) = (try Folder(), CookieJar())
        let stalls = Mutex(true)
        let lifetime = Mutex("max-age=0")
        try await Stage.with(
            tolerating: true,
            configure: {
                $0.cache = HTTPSession.Cache(.standard)
                $0.cookies = jar
            }
        ) { (stage: Stage) async throws in
            stage.server.respond { request in
                let fields: Fields = ["Cache-Control": lifetime.withLock(\.self), "ETag": #""one""#]
                if request.fields["if-none-match"] != nil { return .response(304, fields: fields) }
                var entity = request.fields["cookie"] == nil ? nobodys : alices
                entity.fields = ["Cache-Control": lifetime.withLock(\.self)]
                let stall = request.fields["cookie"] != nil && stalls.withLock(\.self)
                return stall ? entity.reply(to: request, .stall(after: 100_000)) : entity.reply(to: request)
            }
            _ = try await stage.session.get("file", as: .bytes)
            lifetime.withLock { $0 = "max-age=600" }
            try jar.receive(["Set-Cookie": "user=alice"], from: stage.server.baseURL)
            var options = HTTPSession.Options()
            options.cacheMode = .none
            let data = try await Self.left(stage, folder, 100_000, options)
            stalls.withLock { $0 = false }
            #expect(try await stage.session.get("file", as: .bytes).value == nobodys.bytes)
            _ = try await stage.session.download(resumeData: data, to: .file("\(folder.path)/file"))
            let contents = try folder.contents("file")
            #expect(contents == alices.bytes || contents == nobodys.bytes)
        }
    }

    /// The cache has a user's file that is for everybody, with the tag of nobody's.
    @Test func `a file does not go on with a user's that is for everybody`() async throws {
        let (alices, nobodys) = (
            LoopbackServer.Entity(length: 1 << 18, offset: 1, tag: #""one""#, fields: Self.publicly),
            LoopbackServer.Entity(length: 1 << 18, offset: 0, tag: #""one""#, fields: Self.publicly)
        )
        let (folder, jar) = (try Folder(), CookieJar())
        let stalls = Atomic(true)
        try await Stage.with(
            tolerating: true,
            configure: {
                $0.cache = HTTPSession.Cache(.standard)
                $0.cookies = jar
            }
        ) { (stage: Stage) async throws in
            stage.server.respond { request in
                let isNobody = request.fields["cookie"] == nil
                let entity = isNobody ? nobodys : alices
                let stall = isNobody && stalls.load(ordering: .relaxed)
                return stall ? entity.reply(to: request, .stall(after: 100_000)) : entity.reply(to: request)
            }
            var options = HTTPSession.Options()
            options.cacheMode = .none
            let data = try await Self.left(stage, folder, 100_000, options)
            stalls.store(false, ordering: .relaxed)
            try jar.receive(["Set-Cookie": "user=alice"], from: stage.server.baseURL)
            _ = try await stage.session.get("file", as: .bytes)
            _ = jar.remove { _ in true }
            _ = try await stage.session.download(resumeData: data, to: .file("\(folder.path)/file"))
            let contents = try folder.contents("file")
            #expect(contents == alices.bytes || contents == nobodys.bytes)
        }
    }

    /// Nobody's file is stored, with the tag of the user's.
    @Test func `a file does not go on with what the cache has of nobody's`() async throws {
        let (alices, nobodys) = (
            LoopbackServer.Entity(length: 1 << 18, offset: 1, tag: #""one""#),
            LoopbackServer.Entity(length: 1 << 18, offset: 0, tag: #""one""#)
        )
        let folder = try Folder()
        let stalls = Atomic(true)
        try await Stage.with(tolerating: true, configure: { $0.cache = HTTPSession.Cache(.standard) }) {
            (stage: Stage) async throws in
            stage.server.respond { request in
                let entity = request.fields["x-api-key"] == nil ? nobodys : alices
                return stalls.load(ordering: .relaxed) && request.fields["x-api-key"] != nil
                    ? entity.reply(to: request, .stall(after: 100_000)) : entity.reply(to: request)
            }
            var options = HTTPSession.Options()
            options.fields = ["X-Api-Key": "alice"]
            options.cacheMode = .none
            let data = try await Self.left(stage, folder, 100_000, options)
            stalls.store(false, ordering: .relaxed)
            _ = try await stage.session.get("file", as: .bytes)
            options.cacheMode = .session
            _ = try await stage.session.download(
                resumeData: data, options: options, to: .file("\(folder.path)/file"))
            #expect(
                try folder.contents("file") != Bytes(alices.bytes.array[..<100_000] + nobodys.bytes.array[100_000...]))
        }
    }
}
