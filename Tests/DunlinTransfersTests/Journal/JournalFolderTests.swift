import Dunlin
import DunlinReactor
import DunlinTesting
import Folders
import Foundation
import Mocking
import Testing

@testable import DunlinTransfers

@Suite(.timeLimit(.minutes(10))) struct `A journal's folder` {
    private static let id = `An entry of a journal`.id
    private static let entry = `An entry of a journal`.entry(`An entry of a journal`.upload)

    private static func opened(_ folder: Folder) throws -> JournalFolder {
        let storage = JournalFolder(path: folder.path)
        try storage.open()
        return storage
    }

    /// Lets go of what was found, outright: a child that some other test starts may have the file open a moment longer.
    private static func what(_ finding: JournalFolder.Finding?) -> String {
        switch finding {
        case nil: return "nothing"
        case .inUse: return "in use"
        case .damaged: return "damaged"
        case .unreadable: return "unreadable"
        case .entry(let entry, let file):
            file.unlock()
            return "\(entry.state) \(entry.attempts)"
        }
    }

    @Test func `a journal entry is given to one caller at a time, in each of its states`() throws {
        let folder = Folder.unmade()
        let storage = try Self.opened(folder)
        var file = try storage.add(Self.entry, try Self.entry.bytes())
        #expect(try storage.ids() == [Self.id])
        #expect(Self.what(storage.take(Self.id)) == "in use")
        var entry = Self.entry
        for attempt in 1...3 {
            (entry.state, entry.attempts) = (.running, attempt)
            file = try storage.rewrite(Self.id, try entry.bytes())
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
        #expect(try folder.names().isEmpty)
    }

    @Test func `a file that was replaced or forgotten meanwhile is not taken as an entry`() throws {
        let folder = Folder.unmade()
        let storage = try Self.opened(folder)
        var file = try storage.add(Self.entry, try Self.entry.bytes())
        let name = "\(folder.path)/\(Self.id).transfer"
        // As somebody has it who has opened the file, and locks it when it has another name or none.
        let old = try OpenFile(name)
        file = try storage.rewrite(Self.id, try Self.entry.bytes())
        #expect(old.length > 0)
        #expect(Self.what(storage.take(Self.id)) == "in use")
        try storage.forget(Self.id)
        file.unlock()
        #expect(Self.what(storage.take(Self.id)) == "nothing")
    }

    @Test func `a second entry of one name is refused`() throws {
        let folder = Folder.unmade()
        let storage = try Self.opened(folder)
        let first = try storage.add(Self.entry, try Self.entry.bytes())
        #expect(throws: HTTPSession.FileFailure.self) { try storage.add(Self.entry, try Self.entry.bytes()) }
        #expect(try folder.names() == ["\(Self.id).transfer"])
        first.unlock()
        #expect(Self.what(storage.take(Self.id)) == "waiting 0")
    }

    @Test func `a half-written entry is removed once its writer must be gone`() throws {
        let folder = Folder.unmade()
        let storage = try Self.opened(folder)
        let names = ["0", "1"].map { "\(String(repeating: $0, count: 32)).transfer-new" }
        for name in names { try folder.write("half", as: name) }
        let long = Date(timeIntervalSinceNow: -100)
        try FileManager.default.setAttributes(
            [.modificationDate: long], ofItemAtPath: "\(folder.path)/\(names[0])")
        try storage.open()
        #expect(try folder.names() == [names[1]])
        // Whoever takes the entry is its only writer.
        let file = try storage.add(Self.entry, try Self.entry.bytes())
        file.unlock()
        try folder.write("half", as: "\(Self.id).transfer-new")
        #expect(Self.what(storage.take(Self.id)) == "waiting 0")
        #expect(try folder.names() == ["\(Self.id).transfer", names[1]].sorted())
    }

    @Test func `a folder or link with an entry's name is left untouched`() throws {
        let folder = Folder.unmade()
        let storage = try Self.opened(folder)
        let (first, second) = (String(repeating: "a", count: 32), String(repeating: "b", count: 32))
        try FileManager.default.createDirectory(
            atPath: "\(folder.path)/\(first).transfer", withIntermediateDirectories: true)
        try FileManager.default.createSymbolicLink(
            atPath: "\(folder.path)/\(second).transfer", withDestinationPath: "/etc/passwd")
        for id in try storage.ids() { #expect(Self.what(storage.take(id)) == "unreadable") }
        #expect(try folder.names() == ["\(first).transfer", "\(second).transfer"])
    }

    @Test func `an entry that others may have written is not used, and the error gives the reason`() throws {
        let folder = Folder.unmade()
        let storage = try Self.opened(folder)
        try storage.add(Self.entry, try Self.entry.bytes()).unlock()
        let name = "\(folder.path)/\(Self.id).transfer"
        for (permissions, expected) in [
            (0o660, HTTPSession.FileFailure.Distrust.isWritableByGroup),
            (0o602, .isWritableByOthers),
        ] {
            #expect(chmod(name, mode_t(permissions)) == 0)
            #expect(Self.distrust(of: storage.take(Self.id), name) == expected)
        }
        #expect(chmod(name, 0o600) == 0)
        #expect(link(name, "\(folder.path)/other") == 0)
        #expect(Self.distrust(of: storage.take(Self.id), name) == .hasNames(2))
        #expect(try folder.names() == ["\(Self.id).transfer", "other"], "it stays where it is")
        try folder.remove("other")
        #expect(Self.what(storage.take(Self.id)) == "waiting 0")
    }

    private static func distrust(
        of finding: JournalFolder.Finding?, _ name: String
    ) -> HTTPSession.FileFailure.Distrust? {
        guard case .unreadable(let failure) = finding, failure.path == name, failure.errno == EPERM else { return nil }
        return failure.distrust
    }

    @Test(arguments: [0o770, 0o1777]) func `a journal's folder that others may write to is refused by its name`(
        permissions: Int
    ) async throws {
        let folder = Folder.unmade()
        try Self.opened(folder).add(Self.entry, try Self.entry.bytes()).unlock()
        let mocked = try Mocked()
        let journal = try await TransferJournal(in: folder.path, of: mocked.session)
        #expect(chmod(folder.path, mode_t(permissions)) == 0)
        for _ in 0..<2 {
            do throws(HTTPSession.FileFailure) {
                try JournalFolder(path: folder.path).open()
                Issue.record("it was opened")
            } catch {
                #expect(error.path == folder.path && error.distrust == .isWritableByGroup)
                #expect(
                    "\(error)"
                        == "\(folder.path): its group may write to it; forbid that by chmod g-w, or choose another path"
                )
            }
        }
        await #expect(throws: HTTPSession.FileFailure.self) {
            _ = try await TransferJournal(in: folder.path, of: mocked.session)
        }
        await #expect(throws: HTTPSession.FileFailure.self, "nor is one that was ours when it was opened") {
            _ = try await journal.restoredTransfers()
        }
        #expect(mocked.transport.requests.isEmpty)
        #expect(chmod(folder.path, 0o700) == 0)
        #expect(try await journal.restoredTransfers().count == 1)
        await mocked.session.shutdown()
    }

    @Test(.enabled(if: geteuid() == 0, "takes root: what another user forged is not tested"))
    func `an entry that another user wrote is not sent`() async throws {
        let folder = Folder.unmade()
        let storage = try Self.opened(folder)
        try storage.add(Self.entry, try Self.entry.bytes()).unlock()
        let name = "\(folder.path)/\(Self.id).transfer"
        #expect(chown(name, 12345, 0) == 0)
        let mocked = try Mocked()
        let journal = try await TransferJournal(in: folder.path, of: mocked.session)
        #expect(try await journal.restoredTransfers().isEmpty)
        let issue = try #require(journal.issues.first)
        #expect(issue.path == name)
        #expect((issue.error as? HTTPSession.FileFailure)?.distrust == .ownedBy(12345))
        #expect(chown(folder.path, 12345, 0) == 0)
        await #expect(throws: HTTPSession.FileFailure.self) { _ = try await journal.restoredTransfers() }
        await mocked.session.shutdown()
    }

    @Test func `an entry that was cut off anywhere is set aside, and all others are read`() throws {
        let folder = Folder.unmade()
        let storage = try Self.opened(folder)
        let other = String(repeating: "a", count: 32)
        let own = JournalEntry(
            id: other, request: Self.entry.request, work: `An entry of a journal`.upload, metadata: nil)
        try storage.add(own, try own.bytes()).unlock()
        let bytes = try Self.entry.bytes()
        for count in 0...bytes.count {
            try folder.write(Bytes(Array(bytes[..<count])), as: "\(Self.id).transfer")
            // What its process was about to write when it was killed.
            try folder.write(Bytes(Array(bytes[..<count])), as: "\(other).transfer-new")
            #expect(try storage.ids() == [Self.id, other])
            #expect(Self.what(storage.take(Self.id)) == (count < bytes.count ? "damaged" : "waiting 0"))
            #expect(Self.what(storage.take(other)) == "waiting 0")
        }
        #expect(
            try folder.names() == ["\(Self.id).transfer", "\(Self.id).transfer-damaged", "\(other).transfer"])
    }

    @Test(arguments: [true, false]) func `a published file is not downloaded again, and a missing one is`(
        isThere: Bool
    ) async throws {
        let folder = Folder.unmade()
        let path = try folder.write("film", as: "film")
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
        try await journal.waitUntilEmpty()
        #expect(try storage.ids().isEmpty)
        await mocked.session.shutdown()
    }
}
