import Dunlin
import DunlinTesting
import Folders
import Foundation
import Testing

/// Secrets of a URL and of fields are not written down, and the transfer goes on where whoever restores it knows them.
@Suite(.inClearAndOverTLS, .timeLimit(.minutes(10)))
struct `A journal and the secrets of a URL` {
    private static func texts(_ folder: Folder) throws -> String {
        try `A journal`.files(folder).map { name in
            String(decoding: try Data(contentsOf: URL(filePath: "\(`A journal`.path(folder))/\(name)")), as: UTF8.self)
        }.joined()
    }

    @Test(arguments: [false, true])
    func `secrets of a URL are saved only where the rules say so, and the transfer uses them all the same`(
        keeps: Bool
    ) async throws {
        let folder = try Folder()
        let source = try folder.write("body", as: "source")
        try await Stage.with { (stage: Stage) async throws in
            stage.server.respond { $0.target.contains("token=hunter2") ? .response(body: "film") : .response(403) }
            let journal = try await `A journal`.open(folder, stage, rules: { $0.keepsSecretsOfURLs = keeps })
            let download = try await journal.download("film?token=hunter2&b=1", to: .file("\(folder.path)/film"))
            let upload = try await journal.upload("up", method: .put, query: ["token": "hunter2"], file: source)
            #expect(try Self.texts(folder).contains("hunter2") == keeps)
            #expect(try Self.texts(folder).contains("b=1"))
            #expect(!download.needsURL && download.url.contains("hunter2") == keeps)
            var dumped = "\(journal) \(download)"
            for value in [journal, download, upload] as [Any] { dump(value, to: &dumped) }
            #expect(!dumped.contains("hunter2") && dumped.contains(download.id), "\(dumped)")
            #expect(try await download.value.file?.byteCount == 4)
            #expect(try await upload.value.response?.status == .ok)
            #expect(try `A journal`.files(folder).isEmpty)
        }
    }

    @Test func `a field that the session calls secret is sent, and is in no file of a journal`() async throws {
        let folder = try Folder()
        let source = try folder.write("body", as: "source")
        try await Stage.with(configure: { $0.secretFields = ["ticket"] }) { (stage: Stage) async throws in
            stage.server.respond { _ in .response(body: "film") }
            let journal = try await `A journal`.open(folder, stage)
            let options = HTTPSession.Options(fields: ["Ticket": "s3cret", "X-Own": "visible"])
            let download = try await journal.download("film", options: options, to: .file("\(folder.path)/film"))
            let upload = try await journal.upload("up", options: options, file: source)
            let saved = try Self.texts(folder)
            #expect(!saved.contains("s3cret") && saved.contains("visible"))
            #expect(try await download.value.file?.byteCount == 4)
            #expect(try await upload.value.response?.status == .ok)
            #expect(stage.server.requests.map { $0.fields["ticket"] } == ["s3cret", "s3cret"])
        }
    }

    @Test(arguments: [("token=", "token=***"), ("next=%2Fcb%3Ftoken%3D", "next=***")])
    func `a restored transfer that lacks its URL sends nothing, says why, and stays`(
        query: String, saved: String
    ) async throws {
        let folder = try Folder()
        try await Stage.with { (stage: Stage) async throws in
            stage.server.respond { $0.target == "/film?\(query)new" ? .response(body: "film") : .response(403) }
            let first = try await `A journal`.open(folder, stage)
            _ = try await first.download(.url("film?\(query)hunter2"), to: .file("\(folder.path)/film"))
            #expect(try !Self.texts(folder).contains("hunter2"))
            await first.close()
            let second = try await `A journal`.open(folder, stage)
            let restored = try #require(try await second.restoredTransfers().first)
            #expect(restored.needsURL && restored.url == "\(stage.server.baseURL)/film?\(saved)")
            let error = try await NetworkError.thrown { _ = try await restored.value }
            #expect(error.code == .invalidRequest && error.reason.contains("resume(from:)"))
            #expect(stage.server.requests.isEmpty)
            let again = try #require(try await second.restoredTransfers().first)
            #expect(again.id == restored.id && again.attempts == 0)
            try again.resume(from: "\(stage.server.baseURL)/film?\(query)new")
            #expect(try await again.value.file?.byteCount == 4)
            #expect(try !Self.texts(folder).contains("new"))
        }
    }

    /// What the request had of its own, and what it is begun with again.
    private static let own: [(HTTPSession.Options, HTTPSession.Options, sent: String?)] = {
        var (password, field, handler, none) = (
            HTTPSession.Options(), HTTPSession.Options(), HTTPSession.Options(), HTTPSession.Options()
        )
        password.credentials = .value(.bearer(token: "bob"))
        field.fields = ["Authorization": "Bearer bob"]
        handler.hostOverrides = ["a.test": .v4(0x7F00_0001, port: 1)]
        handler.sockets = .value(HTTP.SocketOptions())
        none.credentials = .none
        return [
            (password, password, "Bearer bob"), (field, field, "Bearer bob"), (field, password, "Bearer bob"),
            (password, none, nil), (handler, handler, "Bearer ada"),
        ]
    }()

    @Test(arguments: own)
    func `a restored transfer of another user is not sent as the session's`(
        asked: HTTPSession.Options, given: HTTPSession.Options, sent: String?
    ) async throws {
        let folder = try Folder()
        try await Stage.with(
            configure: {
                $0.credentials = .bearer(token: "ada")
                $0.basicInClearText = .allowed
            }
        ) { (stage: Stage) async throws in
            stage.server.respond { _ in .response(body: "film") }
            let first = try await `A journal`.open(folder, stage)
            _ = try await first.download("film", options: asked, to: .file("\(folder.path)/film"))
            #expect(try !Self.texts(folder).contains("bob"))
            await first.close()
            let second = try await `A journal`.open(folder, stage)
            let restored = try #require(try await second.restoredTransfers().first)
            #expect(restored.needsOptions)
            let error = try await NetworkError.thrown { _ = try await restored.value }
            #expect(error.code == .invalidRequest && error.reason.contains("resume(options:)"))
            #expect(stage.server.requests.isEmpty)
            let again = try #require(try await second.restoredTransfers().first)
            again.resume(options: given)
            #expect(try await again.value.file?.byteCount == 4)
            #expect(stage.server.requests.map { $0.fields["Authorization"] } == [sent])
        }
    }

    @Test func `a restored transfer of nobody is sent as nobody's`() async throws {
        let folder = try Folder()
        let jar = CookieJar()
        try await Stage.with(
            configure: {
                $0.credentials = .bearer(token: "ada")
                $0.cookies = jar
            }
        ) { (stage: Stage) async throws in
            stage.server.respond { _ in .response(fields: ["Set-Cookie": "user=ada"], body: "film") }
            _ = try await stage.session.get("/", as: .bytes)
            let first = try await `A journal`.open(folder, stage)
            var options = HTTPSession.Options()
            options.credentials = .none
            options.handlesCookies = .value(false)
            _ = try await first.download("film", options: options, to: .file("\(folder.path)/film"))
            await first.close()
            let second = try await `A journal`.open(folder, stage)
            let restored = try #require(try await second.restoredTransfers().first)
            #expect(!restored.needsOptions)
            _ = try await restored.value
            let sent = try #require(stage.server.requests.last).fields
            #expect(!sent.contains("Authorization") && !sent.contains("Cookie"))
        }
    }

    @Test func `a download goes on where it was, with another secret in its URL`() async throws {
        let folder = try Folder()
        let entity = ServedFile(400_000)
        try await Stage.with(tolerating: true) { (stage: Stage) async throws in
            entity.change { $0.faults = [.stall(after: 150_000)] }
            entity.serve(on: stage)
            let first = try await `A journal`.open(folder, stage)
            let gate = LoopbackServer.Gate()
            var options = HTTPSession.Options()
            options.hooks.downloadProgress = { _, step in
                if step.wireBytes == 150_000 { gate.open() }
            }
            try await first.download("film?token=hunter2", options: options, to: .file("\(folder.path)/film")).resume()
            try await gate.opened()
            await first.close()
            #expect(try !Self.texts(folder).contains("hunter2"))
            let second = try await `A journal`.open(folder, stage)
            let restored = try #require(try await second.restoredTransfers().first)
            try restored.resume(from: "\(stage.server.baseURL)/film?token=new")
            let file = try #require(try await restored.value.file)
            #expect(file.resumedAt == 150_000)
            #expect(try folder.contents("film") == entity.contents)
            #expect(stage.server.requests.map(\.target) == ["/film?token=hunter2", "/film?token=new"])
        }
    }
}

/// Where a transfer goes on at another origin.
@Suite(.timeLimit(.minutes(10)))
struct `A journal and secrets of an origin` {
    private static func open(_ folder: Folder, _ stage: Stage) async throws -> TransferJournal {
        try await `A journal`.open(folder, stage, rules: { $0.keptFields.formUnion(["X-Api-Key", "X-Film-Token"]) })
    }

    private static var options: HTTPSession.Options {
        var options = HTTPSession.Options(
            fields: [
                "X-Api-Key": "secret", "X-Film-Token": "secret", "X-Tenant": "secret", "X-Own": "visible",
                "Idempotency-Key": "7",
            ])
        options.credentials = .bearer(token: "secret")
        return options
    }

    @Test(arguments: [false, true], [false, true])
    func `another origin gets no secrets of the first, but what it is given`(
        isRestored: Bool, gives: Bool
    ) async throws {
        let folder = try Folder()
        try await Stage.with(configure: { $0.secretFields = ["X-Tenant"] }) { (stage: Stage) async throws in
            let other = try LoopbackServer()
            other.respond { _ in .response(body: "film") }
            let first = try await Self.open(folder, stage)
            var transfer = try await first.download("film", options: Self.options, to: .file("\(folder.path)/film"))
            if isRestored {
                await first.close()
                transfer = try #require(try await Self.open(folder, stage).restoredTransfers().first)
            }
            try transfer.resume(
                from: "\(other.baseURL)/film", options: gives ? .init(fields: ["X-Tenant": "given"]) : nil)
            #expect(try await transfer.value.file?.byteCount == 4)
            let sent = try #require(other.requests.first).fields
            for name in ["X-Api-Key", "X-Film-Token", "Authorization"] { #expect(!sent.contains(name), "\(name)") }
            #expect(sent["X-Tenant"] == (gives ? "given" : nil))
            #expect(sent["X-Own"] == "visible")
            #expect(sent["Idempotency-Key"] == "7")
        }
    }

    @Test func `the same origin gets them, and another does not in any later process`() async throws {
        let folder = try Folder()
        try await Stage.with(tolerating: true) { (stage: Stage) async throws in
            let other = try LoopbackServer()
            other.enqueue(.init([.stall]))
            other.respond { _ in .response(body: "film") }
            stage.server.respond { _ in .response(body: "film") }
            var journal = try await Self.open(folder, stage)
            let same = try await journal.download("same", options: Self.options, to: .file("\(folder.path)/same"))
            try same.resume(from: "\(stage.server.baseURL)/again")
            _ = try await same.value
            #expect(stage.server.requests.first?.fields["X-Api-Key"] == "secret")
            let moved = try await journal.download("film", options: Self.options, to: .file("\(folder.path)/film"))
            try moved.resume(from: "\(other.baseURL)/film")
            _ = try await other.waitForRequests(1)
            await journal.close()
            journal = try await Self.open(folder, stage)
            let restored = try #require(try await journal.restoredTransfers().first)
            #expect(try await restored.value.file?.byteCount == 4)
            #expect(other.requests.map { $0.fields["X-Api-Key"] } == [nil, nil])
        }
    }
}

/// Where a redirect leads a transfer that is restored, or begun with other options.
@Suite(.timeLimit(.minutes(10)))
struct `A journal and redirects` {
    /// How a transfer is begun that was asked for with options.
    enum Beginning: CaseIterable, Sendable {
        case atOnce, withOptions, elsewhere, restored
    }

    private static func play(
        _ own: HTTPSession.Options, _ beginning: Beginning, uploads: Bool,
        _ configure: (inout HTTPSession.Configuration) -> Void = { _ in },
        _ play: (TransferJournal.Transfer, LoopbackServer, String) async throws -> Void
    ) async throws {
        let folder = try Folder()
        let source = try folder.write("body", as: "source")
        try await Stage.with(tolerating: true, configure: configure) { (stage: Stage) async throws in
            let other = try LoopbackServer()
            other.respond { _ in .response(body: "film") }
            stage.server.respond { _ in .response(307, fields: ["Location": "\(other.baseURL)/there"]) }
            func open() async throws -> TransferJournal {
                try await `A journal`.open(folder, stage, rules: { $0.keptFields = ["X-Mark"] })
            }
            let journal = try await open()
            var transfer =
                uploads
                ? try await journal.upload("film", method: .put, options: own, file: source)
                : try await journal.download("film", options: own, to: .file("\(folder.path)/film"))
            let saved = try `A journal`.files(folder).map {
                String(
                    decoding: try Data(contentsOf: URL(filePath: "\(`A journal`.path(folder))/\($0)")), as: UTF8.self)
            }
            if beginning == .restored {
                await journal.close()
                transfer = try #require(try await open().restoredTransfers().first)
            }
            let options = HTTPSession.Options(tags: ["other"])
            switch beginning {
            case .atOnce: break
            case .restored:
                if transfer.needsOptions { transfer.resume(options: .init(fields: ["X-Tenant": "hunter1"])) }
            case .withOptions: transfer.resume(options: options)
            case .elsewhere: try transfer.resume(from: "\(stage.server.baseURL)/again", options: options)
            }
            try await play(transfer, other, saved.joined())
            #expect(stage.server.requests.count == 1)
        }
    }

    @Test(arguments: Beginning.allCases, [false, true])
    func `what no redirect may take to another origin stays behind, whether it was saved or not`(
        beginning: Beginning, uploads: Bool
    ) async throws {
        var options = HTTPSession.Options(fields: ["X-Tenant": "hunter1", "X-Own": "visible"])
        options.fields.append(name: "X-Mark", value: "hunter2", sensitive: true)
        var policy = HTTPSession.RedirectPolicy()
        policy.secretFields = ["X-Tenant"]
        options.redirects = .value(policy)
        try await Self.play(options, beginning, uploads: uploads) { transfer, other, saved in
            _ = try await transfer.value
            #expect(saved.contains("hunter2") && !saved.contains("hunter1"))
            let request = try #require(other.requests.first)
            #expect(request.fields["x-own"] == "visible")
            #expect(!request.fields.contains("x-mark") && !request.fields.contains("x-tenant"))
        }
    }

    @Test(arguments: Beginning.allCases, [HTTPSession.PerRequest<HTTPSession.RedirectPolicy>.none, .value(.never)])
    func `a transfer that follows no redirects follows none, however it is begun`(
        beginning: Beginning, rule: HTTPSession.PerRequest<HTTPSession.RedirectPolicy>
    ) async throws {
        try await Self.play(.init(redirects: rule), beginning, uploads: true) { transfer, other, _ in
            #expect(await `A journal`.code(transfer) == .unacceptableStatus)
            #expect(other.requests.isEmpty)
        }
    }

    @Test(arguments: [Beginning.atOnce, .withOptions]) func `other options leave those alone that they do not set`(
        beginning: Beginning
    ) async throws {
        let options = HTTPSession.Options(fields: ["X-Own": "visible"], credentials: .none)
        try await Self.play(options, beginning, uploads: true) {
            $0.credentials = .bearer(token: "hunter2")
        } _: { transfer, other, _ in
            _ = try await transfer.value
            #expect(other.requests.map { $0.fields["x-own"] } == ["visible"])
        }
    }
}
