import Dunlin
import DunlinTesting
import Folders
import Foundation
import LedgerRows
import Synchronization
import Testing

@Suite(.inClearAndOverTLS, .timeLimit(.minutes(10)))
struct `A journal` {
    struct Film: Codable, Hashable {
        var title: String
        var year: Int
    }

    static let film = Film(title: "Die Büchse der Pandora", year: 1929)

    static func path(_ folder: Folder) -> String { "\(folder.path)/journal" }

    static func open(
        _ folder: Folder, _ stage: Stage, ended: TransferJournal.EndHook? = nil,
        rules: (inout TransferJournal.Rules) -> Void = { _ in }
    ) async throws -> TransferJournal {
        var own = TransferJournal.Rules()
        rules(&own)
        return try await TransferJournal(in: path(folder), of: stage.session, rules: own, ended: ended)
    }

    /// The names of its files, told apart by what they are.
    static func files(_ folder: Folder) throws -> [String] {
        try FileManager.default.contentsOfDirectory(atPath: path(folder)).sorted()
    }

    static func code(_ transfer: TransferJournal.Transfer) async -> NetworkError.Code? {
        guard case .failure(let error) = await transfer.result else { return nil }
        return (error as? NetworkError)?.code
    }

    @Test func `waiting in a hook for the transfer that waits for the hook is an error, and no standstill`()
        async throws
    {
        let folder = try Folder()
        let journals = AsyncStream.makeStream(of: TransferJournal.self)
        let code = Mutex<NetworkError.Code?>(nil)
        try await Stage.with { (stage: Stage) async throws in
            stage.server.route(.get, "/film", .generated(length: 2000))
            let journal = try await Self.open(folder, stage) { _, _ in
                for await journal in journals.stream {
                    do {
                        try await journal.waitUntilEmpty()
                    } catch {
                        code.withLock { $0 = (error as? NetworkError)?.code }
                    }
                    break
                }
            }
            journals.continuation.yield(journal)
            _ = try await journal.download("film", to: .file("\(folder.path)/film.mp4"), metadata: Self.film).value
            try await journal.waitUntilEmpty()
        }
        #expect(code.withLock { $0 } == .invalidRequest)
    }

    @Test(.rows("SM-94", "AP-2")) func `a journal downloads, uploads, forgets both, and says that it is drained`()
        async throws
    {
        let folder = try Folder()
        let source = try folder.write(LoopbackServer.GeneratedBody.bytes(0..<300_000).array, as: "source")
        try await Stage.with { (stage: Stage) async throws in
            stage.server.route(.get, "/film", .generated(length: 200_000))
            stage.server.route(.post, "/up", .response(201, body: "thanks"))
            let events = stage.session.events
            let journal = try await Self.open(folder, stage)
            let download = try await journal.download(
                "film", to: .file("\(folder.path)/film.mp4"), metadata: Self.film)
            let upload = try await journal.upload("up", file: source)
            #expect(try Self.files(folder) == [download.id, upload.id].sorted().map { "\($0).transfer" })
            #expect(stage.server.requests.isEmpty)
            #expect(journal.transfers.map(\.id) == [download.id, upload.id])
            #expect(download.kind == .download(to: "\(folder.path)/film.mp4") && download.attempts == 0)
            #expect(upload.kind == .upload(from: source) && !upload.isRestored)
            let film = try await download.value
            #expect(film.file?.byteCount == 200_000 && film.response?.status == .ok)
            #expect(try folder.contents("film.mp4") == LoopbackServer.GeneratedBody.bytes(0..<200_000))
            let answer = try await upload.value
            #expect(answer.file == nil && answer.response?.value == "thanks")
            #expect(stage.server.requests.last?.bodyHash == LoopbackServer.GeneratedBody.hash(length: 300_000))
            try await journal.waitUntilEmpty()
            #expect(try Self.files(folder).isEmpty)
            #expect(journal.transfers.isEmpty && journal.issues.isEmpty)
            var emptied = 0
            for await event in events {
                if case .journalEmptied(Self.path(folder)) = event { emptied += 1 }
                if emptied == 1 { break }
            }
            #expect(try await journal.restoredTransfers().isEmpty)
            try await stage.expectHealthy()
        }
    }

    @Test(.rows("SM-7", "AP-1"))
    func `a transfer that was not begun is restored with its metadata when the journal is reopened`() async throws {
        let folder = try Folder()
        try await Stage.with { (stage: Stage) async throws in
            stage.server.route(.get, "/film?part=2", .response(body: "film"))
            let first = try await Self.open(folder, stage)
            var options = HTTPSession.Options(fields: ["X-Own": "own", "Authorization": "secret"], label: "film")
            options.timeouts = .patient
            let asked = try await first.download(
                "film", query: ["part": "2"], options: options, to: .folder("\(folder.path)/films"),
                transfer: .init(createsFolders: true), metadata: Self.film)
            await first.close()
            #expect(await Self.code(asked) == .cancelled)
            let second = try await Self.open(folder, stage)
            let restored = try #require(try await second.restoredTransfers().first)
            #expect(restored.id == asked.id && restored.isRestored && restored.attempts == 0)
            #expect(restored.url == "\(stage.server.baseURL)/film?part=2")
            #expect(try restored.metadata(as: Film.self) == Self.film)
            #expect(restored.label == "film" && restored.method == .get)
            #expect(throws: DecodingError.self) { try restored.metadata(as: Int.self) }
            restored.resume(options: .init(credentials: .none))
            #expect(try await restored.value.file?.path == "\(folder.path)/films/film")
            let request = try #require(stage.server.requests.first)
            #expect(request.fields["x-own"] == "own" && request.fields["authorization"] == nil)
            #expect(try Self.files(folder).isEmpty)
        }
    }

    @Test func `a restored transfer takes secrets, hooks and another URL from whoever starts it`() async throws {
        let folder = try Folder()
        try await Stage.with { (stage: Stage) async throws in
            stage.server.route(.get, "/signed?until=later", .response(body: "film"))
            let first = try await Self.open(folder, stage)
            _ = try await first.download("signed?until=now", to: .file("\(folder.path)/film"))
            await first.close()
            let second = try await Self.open(folder, stage)
            let restored = try #require(try await second.restoredTransfers().first)
            #expect(throws: NetworkError.self) { try restored.resume(from: "/signed") }
            #expect(stage.server.requests.isEmpty)
            var options = HTTPSession.Options(fields: ["Authorization": "secret"])
            let told = Mutex(0)
            options.hooks.completed = { _ in told.withLock { $0 += 1 } }
            try restored.resume(from: "\(stage.server.baseURL)/signed?until=later", options: options)
            #expect(try await restored.value.file?.byteCount == 4)
            #expect(stage.server.requests.map { $0.fields["authorization"] } == ["secret"])
            #expect(told.withLock { $0 } == 1)
        }
    }

    @Test func `a journal keeps what was on its way when it is closed or its session is shut down`() async throws {
        let folder = try Folder()
        let source = try folder.write("body", as: "source")
        try await Stage.with(tolerating: true) { (stage: Stage) async throws in
            stage.server.route(.get, "/film", LoopbackServer.Reply.generated(length: 500_000).stallingAfter(100_000))
            stage.server.route(.post, "/up", [.stall])
            for isShutDown in [false, true] {
                let journal = try await Self.open(folder, stage)
                let restored = try await journal.restoredTransfers()
                #expect(restored.count == (isShutDown ? 2 : 0))
                if restored.isEmpty {
                    try await journal.download("film", to: .file("\(folder.path)/film")).resume()
                    try await journal.upload("up", file: source).resume()
                }
                for transfer in restored {
                    #expect(transfer.attempts == 1)
                    transfer.resume()
                }
                _ = try await stage.server.waitForRequests(isShutDown ? 4 : 2)
                let running = journal.transfers
                if isShutDown { await stage.session.shutdown() } else { await journal.close() }
                for transfer in running { #expect(await Self.code(transfer) == .cancelled) }
                #expect(try Self.files(folder).filter { $0.hasSuffix(".transfer") }.count == 2)
                let error = try await NetworkError.thrown {
                    _ = try await journal.download("film", to: .file("\(folder.path)/x"))
                }
                #expect(error.code == .sessionShutDown)
            }
            let error = try await NetworkError.thrown { _ = try await Self.open(folder, stage) }
            #expect(error.code == .sessionShutDown)
            await stage.session.restart()
            #expect(try await Self.open(folder, stage).restoredTransfers().count == 2)
        }
    }

    private static func error(_ transfer: TransferJournal.Transfer) async -> NetworkError? {
        guard case .failure(let error) = await transfer.result else { return nil }
        return error as? NetworkError
    }

    @Test func `a journal keeps what the registry cancels, and what comes during a shutdown`() async throws {
        let folder = try Folder()
        try await Stage.with(tolerating: true) { (stage: Stage) async throws in
            stage.server.route(.get, "/film", [.stall])
            let journal = try await Self.open(folder, stage)
            let transfer = try await journal.download("film", to: .file("\(folder.path)/film"))
            transfer.resume()
            _ = try await stage.server.waitForRequests(1)
            let running = try #require(transfer.task)
            #expect(await stage.session.tasks.cancel(running))
            let cancelled = try #require(await Self.error(transfer))
            #expect(cancelled.code == .cancelled && cancelled.requestMayHaveBeenSent)
            #expect(cancelled.reason == "the transfer's request was cancelled; the transfer stays in the journal")
            try await journal.waitUntilEmpty()
            let again = try #require(try await journal.restoredTransfers().first)
            #expect(again.id == transfer.id)
            again.resume()
            _ = try await stage.server.waitForRequests(2)
            let late = try await journal.download("film", to: .file("\(folder.path)/late"))
            async let shutdown = stage.session.shutdown(grace: .seconds(1000))
            try await stage.eventually("the session takes no more") { stage.session.isShutDown }
            let closed = try #require(await Self.error(late))
            #expect(closed.code == .cancelled)
            #expect(closed.reason == "the session was shut down; the transfer stays in the journal")
            if let task = again.task { await stage.session.tasks.cancel(task) }
            #expect(await Self.error(again)?.reason.hasSuffix("the transfer stays in the journal") == true)
            #expect(await shutdown == 0)
            #expect(try Self.files(folder).count == 2)
        }
    }

    @Test func `a journal forgets a transfer that is cancelled, begun or not`() async throws {
        let folder = try Folder()
        try await Stage.with(tolerating: true) { (stage: Stage) async throws in
            stage.server.route(.get, "/film", LoopbackServer.Reply.generated(length: 500_000).stallingAfter(100_000))
            let journal = try await Self.open(folder, stage)
            let held = try await journal.download("film", to: .file("\(folder.path)/held"))
            let begun = try await journal.download("film", to: .file("\(folder.path)/begun"))
            begun.resume()
            _ = try await stage.server.waitForRequests(1)
            for transfer in [held, begun] {
                transfer.cancel()
                #expect(await Self.code(transfer) == .cancelled)
            }
            try await journal.waitUntilEmpty()
            #expect(try Self.files(folder).isEmpty)
            #expect(stage.server.requests.count == 1)
            #expect(try folder.names() == ["journal"])
        }
    }

    @Test func `a journal leaves to others a transfer that was dropped before it had begun`() async throws {
        let folder = try Folder()
        try await Stage.with { (stage: Stage) async throws in
            let journal = try await Self.open(folder, stage)
            do { _ = try await journal.download("film", to: .file("\(folder.path)/film")) }
            #expect(journal.transfers.isEmpty)
            #expect(try await journal.restoredTransfers().count == 1)
        }
    }

    @Test func `a journal tries a transfer again after a passing failure, and counts the attempts`() async throws {
        let folder = try Folder()
        let clock = ManualClock()
        try await Stage.with(clock: clock) { (stage: Stage) async throws in
            stage.server.enqueue(.response(503), .response(503, fields: ["Retry-After": "60"]), .response(body: "film"))
            let journal = try await Self.open(folder, stage)
            let transfer = try await journal.download("film", to: .file("\(folder.path)/film"))
            let start = clock.now
            transfer.resume()
            // While no request is on its way none is in danger of running out of time.
            try await eventually("the end", every: .milliseconds(2)) {
                if transfer.resultIfEnded != nil { return true }
                if transfer.task == nil { try await clock.advance(by: .seconds(20)) }
                return false
            }
            #expect(try await transfer.value.file?.byteCount == 4)
            #expect(start.duration(to: clock.now) >= .seconds(61))
            #expect(transfer.attempts == 3)
        }
    }

    @Test func `a journal tells its hook of a transfer that cannot succeed before it forgets it`() async throws {
        let folder = try Folder()
        let told = Mutex<[String]>([])
        try await Stage.with { (stage: Stage) async throws in
            stage.server.respond { .response($0.method == .get ? 404 : 503) }
            let journal = try await Self.open(folder, stage) { transfer, result in
                let files = (try? Self.files(folder)) ?? []
                guard case .failure(let error) = result, files == ["\(transfer.id).transfer"] else { return }
                told.withLock { $0.append("\((error as? NetworkError)?.response?.status.code ?? 0)") }
            }
            let missing = try await journal.download("film", to: .file("\(folder.path)/film"))
            #expect(await Self.code(missing) == .unacceptableStatus)
            // Sent, and nobody knows whether twice is once.
            let source = try folder.write("body", as: "source")
            let upload = try await journal.upload("up", file: source)
            #expect(await Self.code(upload) == .unacceptableStatus)
            #expect(stage.server.requests.count == 2)
            #expect(told.withLock { $0 } == ["404", "503"])
            let nothing = try await journal.upload("up", file: "\(folder.path)/nothing")
            #expect(await Self.code(nothing) == .fileUnreadable)
            #expect(try Self.files(folder).isEmpty)
        }
    }

    @Test func `a shutdown ends what a journal's hook asks for, and waits for the hook`() async throws {
        let folder = try Folder()
        let told = Mutex<NetworkError.Code?>(nil)
        try await Stage.with(tolerating: true) { (stage: Stage) async throws in
            stage.server.route(.get, "/film", .response(body: "film"))
            stage.server.route(.get, "/told", [.stall])
            let session = stage.session
            let journal = try await Self.open(folder, stage) { _, _ in
                do {
                    _ = try await session.get("told", as: .bytes)
                } catch {
                    told.withLock { $0 = (error as? NetworkError)?.code }
                }
            }
            let transfer = try await journal.download("film", to: .file("\(folder.path)/film"))
            transfer.resume()
            _ = try await stage.server.waitForRequests(2)
            let ending = Task { await session.shutdown() }
            try await stage.eventually("the hook's request is over") { told.withLock { $0 } != nil }
            #expect(await ending.value == 1)
            #expect(told.withLock { $0 } == .cancelled)
            #expect(try await transfer.value.file?.byteCount == 4)
        }
    }

    @Test func `a journal refuses what it could not give to another process`() async throws {
        let folder = try Folder()
        try await Stage.with { (stage: Stage) async throws in
            let journal = try await Self.open(folder, stage)
            for destination in [HTTPSession.Destination.temporary, .resolved { _, _ in nil }] {
                let error = try await NetworkError.thrown { _ = try await journal.download("x", to: destination) }
                #expect(error.code == .invalidRequest)
            }
            let long = String(repeating: "x", count: 2 << 20)
            let error = try await NetworkError.thrown {
                _ = try await journal.download("x", to: .file("/x"), metadata: long)
            }
            #expect(error.code == .limitExceeded)
            #expect(try Self.files(folder).isEmpty)
            let occupied = try folder.write("", as: "occupied")
            await #expect(throws: HTTPSession.FileFailure.self) {
                _ = try await TransferJournal(in: occupied, of: stage.session)
            }
        }
    }

    @Test func `a journal sets damaged entries aside, tells of them, and goes on with the others`() async throws {
        let folder = try Folder()
        try await Stage.with { (stage: Stage) async throws in
            stage.server.respond { _ in .response(body: "film") }
            let first = try await Self.open(folder, stage)
            var ids: [String] = []
            for number in 0..<3 {
                ids.append(try await first.download("film", to: .file("\(folder.path)/\(number)")).id)
            }
            await first.close()
            let (cut, spoilt) = ("journal/\(ids[0]).transfer", "journal/\(ids[1]).transfer")
            try folder.write(try folder.contents(cut).array.dropLast(9), as: cut)
            try folder.write("nonsense", as: spoilt)
            // What is none of its own is none of its business.
            try folder.write("notes", as: "journal/notes.txt")
            try folder.write("notes", as: "journal/notes.transfer")
            let events = stage.session.events
            let second = try await Self.open(folder, stage)
            #expect(try await second.restoredTransfers().map(\.id) == [ids[2]])
            let aside = [ids[0], ids[1]].sorted().map { "\(Self.path(folder))/\($0).transfer-damaged" }
            #expect(second.issues.map(\.path) == aside)
            var told: [String] = []
            for await event in events {
                if case .journalIssue(_, let issue) = event { told.append(issue.path) }
                if told.count == 2 { break }
            }
            #expect(told == aside)
            #expect(try folder.contents("journal/\(ids[1]).transfer-damaged") == "nonsense")
            #expect(try folder.contents("journal/notes.transfer") == "notes")
            await second.close()
        }
    }

    @Test func `a journal and its entries are accessible to their user alone`() async throws {
        let folder = try Folder()
        try await Stage.with { (stage: Stage) async throws in
            let journal = try await Self.open(folder, stage)
            let transfer = try await journal.download("film", to: .file("\(folder.path)/film"))
            for (path, wanted) in [(Self.path(folder), 0o700), ("\(Self.path(folder))/\(transfer.id).transfer", 0o600)]
            {
                let found = try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int
                #expect(found == wanted)
            }
        }
    }

    @Test func `a transfer is never done twice, however many journals are open on its folder`() async throws {
        let folder = try Folder()
        try await Stage.with { (stage: Stage) async throws in
            stage.server.respond { .response(body: Bytes($0.target)) }
            let first = try await Self.open(folder, stage)
            for number in 0..<20 { _ = try await first.download("\(number)", to: .file("\(folder.path)/\(number)")) }
            await first.close()
            let journals = try await withThrowingTaskGroup(of: (TransferJournal, [String]).self) { group in
                for _ in 0..<4 {
                    group.addTask {
                        let journal = try await Self.open(folder, stage)
                        let restored = try await journal.restoredTransfers()
                        for transfer in restored { _ = try await transfer.value }
                        return (journal, restored.map(\.id))
                    }
                }
                return try await group.reduce(into: []) { $0.append($1) }
            }
            #expect(Set(journals.flatMap(\.1)).count == 20)
            #expect(journals.flatMap(\.1).count == 20)
            #expect(Set(stage.server.requests.map(\.target)).count == 20)
            #expect(stage.server.requests.count == 20)
            #expect(try Self.files(folder).isEmpty)
        }
    }
}
