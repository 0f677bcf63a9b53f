import Dunlin
import DunlinTesting
import Folders
import Foundation

extension Scenario {
    /// Transfers that a journal remembers: interrupted, and taken up by the next.
    static let journals: [Scenario] = [
        Scenario("journal", chancy: [.firstByte]) { scene in
            scene.server.enqueue(.response(body: "film"), .response(201, body: "thanks"))
            let source = try scene.folder.write("content", as: "source")
            let journal = try await scene.openJournal()
            let download = try await journal.download("film", to: .file("\(scene.folder.path)/film"))
            let upload = try await journal.upload("up", file: source)
            try scene.noteJournal()
            await scene.note("download", download)
            await scene.note("upload", upload)
            try await journal.waitUntilEmpty()
            try scene.noteJournal()
        },
        Scenario("journal-interrupted", chancy: Set(HTTP.Phase.allCases)) { scene in
            scene.server.serve(entity, at: "/film", faults: .stall(after: 1000))
            let journal = try await scene.openJournal()
            let transfer = try await scene.beginFilm(in: journal)
            await journal.close()
            await scene.note("interrupted", transfer)
            try scene.noteJournal()
            try await scene.noteRestored("gone on with")
            try scene.noteJournal()
        },
        // What a process that is killed leaves behind: its files as they lay there at that moment.
        Scenario("journal-killed", chancy: Set(HTTP.Phase.allCases)) { scene in
            scene.server.serve(entity, at: "/film", faults: .stall(after: 1000))
            let journal = try await scene.openJournal()
            let transfer = try await scene.beginFilm(in: journal)
            try scene.noteJournal()
            let files = try Leftovers(scene.folder)
            await journal.close()
            await scene.note("killed", transfer)
            try files.restore()
            try scene.noteJournal()
            try await scene.noteRestored("gone on with")
            try scene.noteJournal()
        },
        Scenario("journal-file-changed-meanwhile", chancy: Set(HTTP.Phase.allCases)) { scene in
            scene.server.serve(entity, at: "/film", faults: .stall(after: 1000), .changed)
            let journal = try await scene.openJournal()
            let transfer = try await scene.beginFilm(in: journal)
            await journal.close()
            await scene.note("interrupted", transfer)
            try await scene.noteRestored("begun anew")
            try scene.noteJournal()
        },
        Scenario("journal-upload-interrupted", chancy: Set(HTTP.Phase.allCases)) { scene in
            let reached = LoopbackServer.Gate()
            scene.server.enqueue([.signal(reached), .stall], .response(201, body: "thanks"))
            let source = try scene.folder.write("content", as: "source")
            let journal = try await scene.openJournal()
            let transfer = try await journal.upload("up", method: .put, file: source)
            transfer.resume()
            try await reached.opened()
            await scene.noteTasks("while it waits")
            await journal.close()
            await scene.note("interrupted", transfer)
            try scene.noteJournal()
            try await scene.noteRestored("sent again")
            try scene.noteJournal()
        },
        Scenario("journal-tries-again", hasManualClock: true, chancy: Set(HTTP.Phase.allCases)) { scene in
            scene.server.enqueue(
                .response(503), .response(302, fields: ["Location": "/elsewhere"]), .response(body: "film"))
            let journal = try await scene.openJournal()
            let transfer = try await journal.download("film", to: .file("\(scene.folder.path)/film"))
            await scene.note("download") {
                try await scene.movingOn { try await transfer.value }
            }
            scene.transcript.note("attempts: \(transfer.attempts)")
            try scene.noteJournal()
        },
        Scenario("journal-gives-up", hasManualClock: true, chancy: Set(HTTP.Phase.allCases)) { scene in
            scene.server.respond { $0.target == "/gone" ? .response(404) : .response(503, body: "busy") }
            var rules = TransferJournal.Rules()
            rules.attempts = 2
            let journal = try await scene.openJournal(rules) { transfer, _ in
                scene.transcript.note("told of the end after \(transfer.attempts) attempts")
            }
            for target in ["gone", "busy"] {
                let transfer = try await journal.download(
                    .init(target), to: .file("\(scene.folder.path)/\(target)"))
                await scene.note(target) {
                    try await scene.movingOn { try await transfer.value }
                }
            }
            try scene.noteJournal()
        },
        Scenario("journal-cancelled", chancy: Set(HTTP.Phase.allCases)) { scene in
            scene.server.serve(entity, at: "/film", faults: .stall(after: 1000))
            let journal = try await scene.openJournal()
            let transfer = try await scene.beginFilm(in: journal)
            transfer.cancel()
            await scene.note("cancelled", transfer)
            try await journal.waitUntilEmpty()
            try scene.noteJournal()
        },
        Scenario("journal-cancelled-by-the-registry", chancy: Set(HTTP.Phase.allCases)) { scene in
            scene.server.serve(entity, at: "/film", faults: .stall(after: 1000))
            let journal = try await scene.openJournal()
            let transfer = try await scene.beginFilm(in: journal)
            scene.transcript.note("cancelled: \(await scene.session.tasks.cancelAll())")
            await scene.note("cancelled", transfer)
            try scene.noteJournal()
            guard let again = try await journal.restoredTransfers().first else { return }
            await scene.note("gone on with", again)
            try scene.noteJournal()
        },
        Scenario("journal-and-a-login", chancy: [.firstByte], configure: withPassword) { scene in
            scene.server.enqueue(
                .asking("Basic realm=\"r\""), .response(body: "film"), .response(201, body: "thanks"))
            let source = try scene.folder.write("content", as: "source")
            let journal = try await scene.openJournal()
            let download = try await journal.download("film", to: .file("\(scene.folder.path)/film"))
            let upload = try await journal.upload("up", file: source)
            await scene.note("download", download)
            await scene.note("upload", upload)
            try await journal.waitUntilEmpty()
            try scene.noteJournal()
        },
    ]

    private static let entity = LoopbackServer.Entity(length: 3000, tag: "\"v1\"")

    /// Copies of files, which can be put back.
    private struct Leftovers {
        private let folder: Folder
        private let copies: Folder

        init(_ folder: Folder) throws {
            self.folder = folder
            copies = try Folder()
            for name in try folder.names() {
                try FileManager.default.copyItem(atPath: "\(folder.path)/\(name)", toPath: "\(copies.path)/\(name)")
            }
        }

        func restore() throws {
            for name in try folder.names() { try FileManager.default.removeItem(atPath: "\(folder.path)/\(name)") }
            for name in try copies.names() {
                try FileManager.default.copyItem(atPath: "\(copies.path)/\(name)", toPath: "\(folder.path)/\(name)")
            }
        }
    }
}

extension Scene {
    fileprivate func openJournal(
        _ rules: TransferJournal.Rules = .init(), ended: TransferJournal.EndHook? = nil
    ) async throws -> TransferJournal {
        try await TransferJournal(in: "\(folder.path)/journal", of: session, rules: rules, ended: ended)
    }

    /// Begins a download, and waits until a thousand bytes lie in its file.
    fileprivate func beginFilm(in journal: TransferJournal) async throws -> TransferJournal.Transfer {
        let transfer = try await journal.download("film", to: .file("\(folder.path)/film"))
        transfer.resume()
        try await stage.eventually("some has come") {
            try folder.names().contains(".film.dunlin-part") && folder.contents(".film.dunlin-part").count >= 1000
        }
        return transfer
    }

    /// Awaits a transfer and notes what becomes of it.
    fileprivate func note(_ label: String, _ transfer: TransferJournal.Transfer) async {
        await note(label) { try await transfer.value }
        transcript.note("attempts: \(transfer.attempts)")
    }

    /// Opens the journal anew, and notes what becomes of each transfer that it finds.
    fileprivate func noteRestored(_ label: String) async throws {
        let journal = try await openJournal()
        for transfer in try await journal.restoredTransfers() {
            transcript.note("restored: \(transfer.method) \(transfer.url), attempts so far \(transfer.attempts)")
            await note(label, transfer)
        }
        try await journal.waitUntilEmpty()
    }

    /// Notes what lies in the folder and in the journal, whose files have made-up names.
    fileprivate func noteJournal() throws {
        try noteFiles()
        let names = try FileManager.default.contentsOfDirectory(atPath: "\(folder.path)/journal")
        let kinds = names.map { $0.split(separator: ".").last.map(String.init) ?? "" }.sorted()
        transcript.note("journal: \(kinds.isEmpty ? "empty" : kinds.joined(separator: " "))")
    }
}
