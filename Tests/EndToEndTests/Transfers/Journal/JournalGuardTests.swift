import Dunlin
import DunlinTesting
import Folders
import Testing

/// The guard of a request, or else of its session, is saved with it: whoever goes on with it need not have one.
@Suite(.inClearAndOverTLS, .timeLimit(.minutes(10)))
struct `A journal and the guard of a request` {
    /// A transfer that was asked for with options of its own is restored or not, and begun with others or not.
    private static func play(
        _ own: HTTPSession.Options, _ isRestored: Bool, _ hasOptions: Bool,
        _ configure: (inout HTTPSession.Configuration) -> Void = { _ in },
        _ play: (Stage, Folder, TransferJournal.Transfer) async throws -> Void
    ) async throws {
        let folder = try Folder()
        try await Stage.with(configure: configure) { (stage: Stage) async throws in
            stage.server.respond { _ in .response(body: "film") }
            let first = try await `A journal`.open(folder, stage)
            let asked = try await first.download("film", options: own, to: .file("\(folder.path)/film"))
            let transfer: TransferJournal.Transfer
            if isRestored {
                await first.close()
                let second = try await `A journal`.open(folder, stage)
                transfer = try #require(try await second.restoredTransfers().first)
            } else {
                transfer = asked
            }
            transfer.resume(options: hasOptions ? HTTPSession.Options(fields: ["X-Own": "1"]) : nil)
            try await play(stage, folder, transfer)
        }
    }

    @Test(arguments: [false, true], [false, true])
    func `a transfer keeps its own guard when it is restored, and when it is begun with other options`(
        isRestored: Bool, hasOptions: Bool
    ) async throws {
        try await Self.play(.init(guard: .publicInternet), isRestored, hasOptions) {
            (stage: Stage, folder: Folder, transfer: TransferJournal.Transfer) async throws in
            #expect(await `A journal`.code(transfer) == .guardRefused)
            #expect(stage.server.connectionCount == 0)
            #expect(try `A journal`.files(folder).isEmpty)
        }
    }

    @Test(arguments: [false, true], [false, true])
    func `a transfer that goes without its session's guard still does when it is restored or begun with other options`(
        isRestored: Bool, hasOptions: Bool
    ) async throws {
        try await Self.play(.init(guard: .none), isRestored, hasOptions, { $0.guard = .publicInternet }) {
            stage, _, transfer in
            _ = try await transfer.result.get()
            #expect(stage.server.requests.map(\.target) == ["/film"])
        }
    }

    private static let local = guarding(["127.0.0.0/8"])

    private static func guarding(_ allowed: [String]) -> HTTPSession.Guard {
        var own = HTTPSession.Guard.nothing
        own.allowedAddresses = allowed
        return own
    }

    @Test(
        arguments: [
            (.publicInternet, nil, false), (.publicInternet, local, false), (local, .publicInternet, false),
            (nil, .publicInternet, false), (local, nil, true), (local, guarding(["127.0.0.1", "10.0.0.1"]), true),
        ] as [(HTTPSession.Guard?, HTTPSession.Guard?, Bool)])
    func `a restored transfer goes where the guards of both its session and the one that restores it allow`(
        former: HTTPSession.Guard?, present: HTTPSession.Guard?, isAllowed: Bool
    ) async throws {
        let folder = try Folder()
        try await Stage.with(configure: { $0.guard = former }) { (stage: Stage) async throws in
            stage.server.respond { _ in .response(body: "film") }
            let first = try await `A journal`.open(folder, stage)
            _ = try await first.download("film", to: .file("\(folder.path)/film"))
            await first.close()
            var configuration = stage.session.configuration
            configuration.guard = present
            let session = try HTTPSession(configuration)
            let second = try await TransferJournal(in: `A journal`.path(folder), of: session)
            let transfer = try #require(try await second.restoredTransfers().first)
            #expect(await `A journal`.code(transfer) == (isAllowed ? nil : .guardRefused))
            #expect(stage.server.requests.count == (isAllowed ? 1 : 0))
            await session.shutdown()
        }
    }
}
