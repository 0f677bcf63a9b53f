import Dunlin
import DunlinTesting
import Folders
import Foundation
import LedgerRows
import Synchronization
import Testing

/// Downloads that stop in the middle under one journal, and what the next makes of what they left.
@Suite(.inClearAndOverTLS, .timeLimit(.minutes(10)))
struct `A journaled download that was stopped` {
    private static let arrived = 150_000

    /// Leaves a download of `entity` in the journal, of which so many bytes have arrived.
    private static func stop(
        _ entity: ServedFile, _ folder: Folder, _ stage: Stage, in destination: HTTPSession.Destination
    ) async throws {
        let isFirst = Mutex(true)
        stage.server.respond { request in
            var reply = entity.reply(to: request)
            let stalls = isFirst.withLock { isFirst in
                defer { isFirst = false }
                return isFirst
            }
            if stalls { reply.steps[reply.steps.count - 1] = .stall }
            return reply
        }
        let journal = try await `A journal`.open(folder, stage)
        var options = HTTPSession.Options()
        let gate = LoopbackServer.Gate()
        options.hooks.downloadProgress = { _, step in
            if step.wireBytes == arrived { gate.open() }
        }
        let transfer = try await journal.download("film", options: options, to: destination)
        transfer.resume()
        try await gate.opened()
        await journal.close()
        #expect(await `A journal`.code(transfer) == .cancelled)
    }

    @Test(.rows("SM-7", "AP-1"), arguments: [false, true])
    func `a journaled download goes on where it was, under the next journal`(isFolder: Bool) async throws {
        let folder = try Folder()
        let entity = ServedFile(400_000, cuts: [Self.arrived])
        try await Stage.with(tolerating: true) { (stage: Stage) async throws in
            let destination = isFolder ? HTTPSession.Destination.folder(folder.path) : .file("\(folder.path)/film")
            try await Self.stop(entity, folder, stage, in: destination)
            #expect(try folder.names() == [".film.dunlin-part", ".film.dunlin-record", "journal"])
            let journal = try await `A journal`.open(folder, stage)
            let restored = try #require(try await journal.restoredTransfers().first)
            let file = try #require(try await restored.value.file)
            #expect(file.resumedAt == Self.arrived && file.byteCount == 400_000)
            #expect(restored.attempts == 2)
            #expect(try folder.contents("film") == entity.contents)
            #expect(stage.server.ranges == [nil, "bytes=\(Self.arrived)-"])
            #expect(try folder.names() == ["film", "journal"])
            #expect(try `A journal`.files(folder).isEmpty)
        }
    }

    @Test(arguments: [false, true])
    func `a journaled download can go on from another URL, and is named after it in a folder`(isFolder: Bool)
        async throws
    {
        let folder = try Folder()
        let entity = ServedFile(400_000, cuts: [Self.arrived])
        try await Stage.with(tolerating: true) { (stage: Stage) async throws in
            let destination = isFolder ? HTTPSession.Destination.folder(folder.path) : .file("\(folder.path)/film")
            try await Self.stop(entity, folder, stage, in: destination)
            let journal = try await `A journal`.open(folder, stage)
            let restored = try #require(try await journal.restoredTransfers().first)
            try restored.resume(from: "\(stage.server.baseURL)/signed?anew")
            let file = try #require(try await restored.value.file)
            #expect(file.resumedAt == Self.arrived)
            #expect(restored.url == "\(stage.server.baseURL)/signed?anew")
            #expect(stage.server.requests.map(\.target) == ["/film", "/signed?anew"])
            #expect(try folder.contents(isFolder ? "signed" : "film") == entity.contents)
            #expect(try folder.names().count == 2)
        }
    }

    @Test func `a journaled download starts over when the file has changed since`() async throws {
        let folder = try Folder()
        let entity = ServedFile(400_000, cuts: [Self.arrived])
        try await Stage.with(tolerating: true) { (stage: Stage) async throws in
            try await Self.stop(entity, folder, stage, in: .file("\(folder.path)/film"))
            entity.change { $0.entity = $0.entity.changed }
            let journal = try await `A journal`.open(folder, stage)
            let restored = try #require(try await journal.restoredTransfers().first)
            #expect(try await restored.value.file?.resumedAt == 0)
            #expect(try folder.contents("film") == entity.contents)
        }
    }

    @Test func `who awaits a journaled download can be cancelled, and the download goes on`() async throws {
        let folder = try Folder()
        let entity = ServedFile(400_000, held: 100_000)
        try await Stage.with(tolerating: true) { (stage: Stage) async throws in
            entity.serve(on: stage)
            let journal = try await `A journal`.open(folder, stage)
            let transfer = try await journal.download("film", to: .file("\(folder.path)/film"))
            let awaiting = Task { try await transfer.value }
            _ = try await stage.server.waitForRequests(1)
            awaiting.cancel()
            await #expect(throws: CancellationError.self) { try await awaiting.value }
            entity.gate.open()
            #expect(try await transfer.value.file?.byteCount == 400_000)
            await journal.close()
        }
    }

    @Test func `a journaled download leaves nothing behind when it is cancelled later`() async throws {
        let folder = try Folder()
        let entity = ServedFile(400_000, cuts: [Self.arrived])
        try await Stage.with(tolerating: true) { (stage: Stage) async throws in
            try await Self.stop(entity, folder, stage, in: .file("\(folder.path)/film"))
            let journal = try await `A journal`.open(folder, stage)
            let restored = try #require(try await journal.restoredTransfers().first)
            restored.cancel()
            #expect(await `A journal`.code(restored) == .cancelled)
            #expect(try folder.names() == ["journal"])
            #expect(try `A journal`.files(folder).isEmpty)
            #expect(stage.server.requests.count == 1)
        }
    }
}
