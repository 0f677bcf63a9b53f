import DunlinReactor
import DunlinTesting
import Foundation
import Testing

@testable import Dunlin

@Suite struct `A journal's folder` {
    private static let id = `An entry of a journal`.id
    private static let entry = `An entry of a journal`.entry(`An entry of a journal`.upload)

    private static func opened(_ folder: Folder) throws -> JournalFolder {
        let storage = JournalFolder(path: folder.path)
        try storage.open()
        return storage
    }

    private static func names(_ folder: Folder) throws -> [String] {
        try FileManager.default.contentsOfDirectory(atPath: folder.path).sorted()
    }

    private static func what(_ finding: JournalFolder.Finding?) -> String {
        switch finding {
        case nil: "nothing"
        case .inUse: "in use"
        case .damaged: "damaged"
        case .unreadable: "unreadable"
        case .entry(let entry, _): "\(entry.state) \(entry.attempts)"
        }
    }

    @Test func `gives an entry to one at a time, in every state of it`() throws {
        let folder = Folder()
        let storage = try Self.opened(folder)
        let file = try storage.add(Self.entry, try Self.entry.bytes())
        #expect(try storage.ids() == [Self.id])
        #expect(Self.what(storage.take(Self.id)) == "in use")
        var entry = Self.entry
        for attempt in 1...3 {
            (entry.state, entry.attempts) = (.running, attempt)
            try storage.rewrite(file, Self.id, try entry.bytes())
            #expect(Self.what(storage.take(Self.id)) == "in use")
        }
        file.unlock()
        #expect(Self.what(storage.take(Self.id)) == "running 3")
        // Nobody held on to it.
        let taken = storage.take(Self.id)
        #expect(Self.what(storage.take(Self.id)) == "in use")
        try storage.forget(Self.id)
        #expect(Self.what(storage.take(Self.id)) == "nothing")
        #expect(Self.what(taken) == "running 3")
        #expect(try Self.names(folder).isEmpty)
    }

    @Test func `does not take for an entry what another has replaced or forgotten meanwhile`() throws {
        let folder = Folder()
        let storage = try Self.opened(folder)
        let file = try storage.add(Self.entry, try Self.entry.bytes())
        let name = "\(folder.path)/\(Self.id).transfer"
        // As somebody has it who has opened the file, and locks it when it has another name or none.
        let old = try OpenFile(name)
        try storage.rewrite(file, Self.id, try Self.entry.bytes())
        #expect(old.length > 0)
        #expect(Self.what(storage.take(Self.id)) == "in use")
        try storage.forget(Self.id)
        file.unlock()
        #expect(Self.what(storage.take(Self.id)) == "nothing")
    }

    @Test func `refuses a second entry of one name`() throws {
        let folder = Folder()
        let storage = try Self.opened(folder)
        let first = try storage.add(Self.entry, try Self.entry.bytes())
        #expect(throws: HTTPSession.FileFailure.self) { try storage.add(Self.entry, try Self.entry.bytes()) }
        #expect(try Self.names(folder) == ["\(Self.id).transfer"])
        first.unlock()
        #expect(Self.what(storage.take(Self.id)) == "waiting 0")
    }

    @Test func `is rid of what never became an entry, once its writer must be gone`() throws {
        let folder = Folder()
        let storage = try Self.opened(folder)
        let names = ["0", "1"].map { "\(String(repeating: $0, count: 32)).transfer-new" }
        for name in names { try folder.write("half", to: name) }
        let long = Date(timeIntervalSinceNow: -100)
        try FileManager.default.setAttributes(
            [.modificationDate: long], ofItemAtPath: "\(folder.path)/\(names[0])")
        try storage.open()
        #expect(try Self.names(folder) == [names[1]])
        // Whoever takes the entry is its only writer.
        let file = try storage.add(Self.entry, try Self.entry.bytes())
        file.unlock()
        try folder.write("half", to: "\(Self.id).transfer-new")
        #expect(Self.what(storage.take(Self.id)) == "waiting 0")
        #expect(try Self.names(folder) == ["\(Self.id).transfer", names[1]].sorted())
    }

    @Test func `touches nothing that is no file of its own`() throws {
        let folder = Folder()
        let storage = try Self.opened(folder)
        let (first, second) = (String(repeating: "a", count: 32), String(repeating: "b", count: 32))
        try FileManager.default.createDirectory(
            atPath: "\(folder.path)/\(first).transfer", withIntermediateDirectories: true)
        try FileManager.default.createSymbolicLink(
            atPath: "\(folder.path)/\(second).transfer", withDestinationPath: "/etc/passwd")
        for id in try storage.ids() { #expect(Self.what(storage.take(id)) == "unreadable") }
        #expect(try Self.names(folder) == ["\(first).transfer", "\(second).transfer"])
    }

    @Test(arguments: [true, false]) func `knows a file that has its name, and fetches one that has not`(
        isThere: Bool
    ) async throws {
        let folder = Folder()
        let path = try folder.write("film", to: "film")
        let named = try #require(JournalFolder.named(path))
        if !isThere { try folder.remove("film") }
        var entry = `An entry of a journal`.entry(
            .download(try #require(JournalEntry.Download(.file(path), .init()))), .publishing(named))
        entry.request.url = "http://api.test/film"
        let mocked = try Mocked()
        mocked.transport.on(.get, "/film").respond(body: "anew").always()
        let storage = JournalFolder(path: "\(folder.path)/journal")
        try storage.open()
        try storage.add(entry, try entry.bytes()).unlock()
        let journal = try await TransferJournal(in: storage.path, of: mocked.session)
        let restored = try #require(try await journal.restoredTransfers().first)
        let outcome = try await restored.value
        #expect(outcome.file?.path == path && outcome.file?.byteCount == 4)
        #expect(mocked.transport.requests.count == (isThere ? 0 : 1))
        #expect((outcome.response == nil) == isThere)
        try await journal.drained()
        #expect(try storage.ids().isEmpty)
        await mocked.session.shutdown()
    }
}
