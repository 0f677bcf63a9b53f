import Dunlin
import DunlinTesting
import Folders
import Testing

/// The guard of a request is saved with it: whoever goes on with it need not have one.
@Suite(.inClearAndOverTLS, .timeLimit(.minutes(10)))
struct `A journal and the guard of a request` {
    @Test(arguments: [false, true], [false, true])
    func `a transfer keeps its own guard when it is restored, and when it is begun with other options`(
        isRestored: Bool, hasOptions: Bool
    ) async throws {
        let folder = try Folder()
        try await Stage.with { (stage: Stage) async throws in
            stage.server.respond { _ in .response(body: "film") }
            let first = try await `A journal`.open(folder, stage)
            let guarded = HTTPSession.Options(guard: .publicInternet)
            let asked = try await first.download("film", options: guarded, to: .file("\(folder.path)/film"))
            let transfer: TransferJournal.Transfer
            if isRestored {
                await first.close()
                let second = try await `A journal`.open(folder, stage)
                transfer = try #require(try await second.restoredTransfers().first)
            } else {
                transfer = asked
            }
            transfer.start(options: hasOptions ? HTTPSession.Options(fields: ["X-Own": "1"]) : nil)
            #expect(await `A journal`.code(transfer) == .guardRefused)
            #expect(stage.server.connectionCount == 0)
            #expect(try `A journal`.files(folder).isEmpty)
        }
    }

    @Test(arguments: [false, true], [false, true])
    func `a transfer that goes without its session's guard still does when it is restored or begun with other options`(
        isRestored: Bool, hasOptions: Bool
    ) async throws {
        let folder = try Folder()
        try await Stage.with(configure: { $0.guard = .publicInternet }) { (stage: Stage) async throws in
            stage.server.respond { _ in .response(body: "film") }
            let first = try await `A journal`.open(folder, stage)
            let unguarded = HTTPSession.Options(guard: .none)
            let asked = try await first.download("film", options: unguarded, to: .file("\(folder.path)/film"))
            let transfer: TransferJournal.Transfer
            if isRestored {
                await first.close()
                let second = try await `A journal`.open(folder, stage)
                transfer = try #require(try await second.restoredTransfers().first)
            } else {
                transfer = asked
            }
            transfer.start(options: hasOptions ? HTTPSession.Options(fields: ["X-Own": "1"]) : nil)
            _ = try await transfer.result.get()
            #expect(stage.server.requests.map(\.target) == ["/film"])
        }
    }
}
