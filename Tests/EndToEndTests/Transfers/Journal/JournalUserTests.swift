import Dunlin
import DunlinTesting
import Folders
import Testing

@testable import DunlinSession

@Suite(.timeLimit(.minutes(1))) struct `A journal and whose transfers it has` {
    @Test(arguments: [nil, "bob"])
    func `a transfer of a session with a userID is sent by sessions with the same one only`(other: String?) async throws
    {
        let folder = try Folder()
        try await Stage.with { (stage: Stage) async throws in
            stage.server.respond { _ in .response(body: "film") }
            func session(_ user: String?) throws -> HTTPSession {
                var configuration = stage.session.configuration
                configuration.userID = user
                return try HTTPSession(configuration)
            }
            let (ada, another) = (try session("ada"), try session(other))
            let path = `A journal`.path(folder)
            let first = try await TransferJournal(in: path, of: ada)
            let file = try folder.write("a diary", as: "diary")
            _ = try await first.upload("inbox", file: file)
            await first.close()
            let second = try await TransferJournal(in: path, of: another)
            let restored = try #require(try await second.restoredTransfers().first)
            #expect(restored.needsOptions)
            restored.resume(options: .init(credentials: .basic(user: "ada", password: "hunter2")))
            let error = try await NetworkError.thrown { _ = try await restored.value }
            #expect(error.code == .invalidRequest && error.reason.contains("`userID`"))
            #expect(stage.server.requests.isEmpty)
            await second.close()
            let third = try await TransferJournal(in: path, of: ada)
            let again = try #require(try await third.restoredTransfers().first)
            #expect(!again.needsOptions)
            _ = try await again.value
            #expect(stage.server.requests.map(\.target) == ["/inbox"])
            await ada.shutdown()
            await another.shutdown()
        }
    }

    @Test func `a transfer that is cancelled leaves no part, whatever name the server gave the file`() async throws {
        let folder = try Folder()
        try await Stage.with(tolerating: true) { (stage: Stage) async throws in
            var entity = LoopbackServer.Entity(length: 1 << 20, tag: #""one""#)
            entity.fields = ["Content-Disposition": "attachment; filename=\"report.pdf\""]
            let whole = entity
            stage.server.respond { whole.reply(to: $0, .stall(after: 100_000)) }
            let journal = try await `A journal`.open(folder, stage)
            try folder.make("files")
            let transfer = try await journal.download("x?token=hunter2", to: .folder("\(folder.path)/files"))
            transfer.resume()
            try await stage.eventually("a part is there") { try folder.names("files").count == 2 }
            transfer.cancel()
            _ = await transfer.result
            #expect(try folder.names("files").isEmpty)
        }
    }

    @Test(arguments: [false, true]) func `after all cookies were removed, a transfer has none of the next user's`(
        isRestored: Bool
    ) async throws {
        let (folder, jar) = (try Folder(), CookieJar())
        try await Stage.with(configure: { $0.cookies = jar }) { (stage: Stage) async throws in
            let url = stage.session.configuration.baseURL ?? ""
            try jar.receive(["Set-Cookie": "user=ada; Max-Age=1000"], from: url)
            stage.server.enqueue(.response(.serviceUnavailable))
            stage.server.respond { _ in .response(body: "in") }
            var journal = try await `A journal`.open(folder, stage, rules: { $0.firstDelay = .milliseconds(200) })
            let file = try folder.write("a diary", as: "diary")
            var transfer = try await journal.upload("inbox", method: .put, file: file)
            if isRestored {
                await journal.close()
                journal = try await `A journal`.open(folder, stage, rules: { $0.firstDelay = .milliseconds(200) })
                transfer = try #require(try await journal.restoredTransfers().first)
            }
            transfer.resume()
            try await eventually("the first attempt was refused") { stage.server.requests.count == 1 }
            jar.removeAll()
            try jar.receive(["Set-Cookie": "user=bob; Max-Age=1000"], from: url)
            _ = try await transfer.value
            #expect(stage.server.requests.map { $0.fields["Cookie"] } == ["user=ada", nil])
        }
    }
}
