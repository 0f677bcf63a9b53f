import Dunlin
import DunlinTesting
import Folders
import Foundation
import Testing

@testable import DunlinRecording

@Suite(.timeLimit(.minutes(10))) struct `The file of an archive` {
    private static func entry(_ number: Int) -> HAR.Entry {
        var entry = HAR.Entry(
            at: Date(timeIntervalSince1970: 0), HAR.Request("GET", "http://a.test/\(number)?]}\\\""), HAR.Response(200))
        entry.response.content.text = "]}} \"\\\" \(number)"
        return entry
    }

    private static func write(_ count: Int, to path: String, _ existing: HARRecorder.Existing = .append) throws {
        let file = try HARFile(path, existing, HAR())
        for number in 0..<count { try file.append(try HAR.json.encode(entry(number)), lost: 0) }
        try file.close(lost: 0)
    }

    @Test func `it is a whole archive after each entry, and can be gone on with`() throws {
        let folder = try Folder(with: "a")
        let path = "\(folder.path)/a.har"
        let file = try HARFile(path, .refuse, HAR())
        #expect(try HAR(contentsOf: path).entries.isEmpty)
        for number in 0..<3 {
            try file.append(try HAR.json.encode(Self.entry(number)), lost: number)
            let har = try HAR(contentsOf: path)
            #expect(har.entries == (0...number).map(Self.entry))
            #expect(!har.wasTorn && har.lost == (number == 0 ? nil : number))
        }
        #expect(throws: HAR.Problem.self) { try HARFile(path, .append, HAR()) }
    }

    @Test func `entries are appended to an archive of earlier, of others, and to an empty file`() throws {
        let folder = try Folder(with: "a")
        let path = "\(folder.path)/a.har"
        for _ in 0..<2 { try Self.write(2, to: path) }
        #expect(try HAR(contentsOf: path).entries.count == 4)
        let mode = try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int
        #expect(mode == 0o600)
        let others = try folder.write(
            Array(#"{"log": {"version": "1.2", "pages": [], "entries": [ ] } } "#.utf8), as: "b.har")
        try Self.write(2, to: others)
        #expect(try HAR(contentsOf: others).entries.count == 2)
        let empty = try folder.write([], as: "c.har")
        try Self.write(1, to: empty)
        #expect(try HAR(contentsOf: empty).entries.count == 1)
    }

    @Test func `a file that is no archive stays as it is, and who may read it`() throws {
        let folder = try Folder(with: "a")
        let path = try folder.write("some notes", as: "notes.txt")
        try FileManager.default.setAttributes([.posixPermissions: 0o644], ofItemAtPath: path)
        #expect(throws: HAR.Problem.self) { try HARFile(path, .append, HAR()) }
        let mode = try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int
        #expect(mode == 0o644 && folder.text(of: "notes.txt") == "some notes")
    }

    @Test func `an archive that is gone on with says what was lost before, and belongs to its owner`() throws {
        let folder = try Folder(with: "a")
        let path = try folder.write(Array(#"{"log":{"entries":[],"_lost":3}}"#.utf8), as: "a.har")
        let file = try HARFile(path, .append, HAR())
        #expect(file.lostBefore == 3)
        try file.append(try HAR.json.encode(Self.entry(0)), lost: 4)
        #expect(try HAR(contentsOf: path).lost == 4)
        let mode = try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int
        #expect(mode == 0o600)
    }

    @Test func `an archive with names of its own is whole after each entry, and when it is gone on with`() throws {
        let folder = try Folder(with: "a")
        let path = "\(folder.path)/a.har"
        var start = HAR()
        start.secretNames = ["ticket"]
        for round in 0..<2 {
            let file = try HARFile(path, .append, start)
            #expect(file.secretNames == ["ticket"])
            for number in 0..<2 {
                try file.append(try HAR.json.encode(Self.entry(number)), lost: round)
                let har = try HAR(contentsOf: path)
                #expect(har.entries.count == 2 * round + number + 1 && har.secretNames == ["ticket"])
                #expect(!har.wasTorn)
            }
            try file.close(lost: round)
            // What is written as a whole can be gone on with, too.
            let whole = try folder.write(try HAR(contentsOf: path).text.array, as: "b.har")
            try Self.write(1, to: whole)
            #expect(try HAR(contentsOf: whole).entries.count == 2 * round + 3)
        }
    }

    @Test func `a damaged number of lost entries stays the largest`() async throws {
        let folder = try Folder(with: "a")
        let text = #"{"log":{"entries":[\#n],"_lost":\#(Int.max)}}"#
        let path = try folder.write(Array(text.utf8), as: "a.har")
        let settings = {
            var settings = HARRecorder.Settings(existing: .append)
            settings.mostWaiting = 0
            return settings
        }()
        let recorder = try HARRecorder(path, settings)
        let client = try HTTPSession {
            $0.transport = MockTransport()
            $0.observers.append(recorder)
        }
        _ = try? await client.get("http://a.test", as: .bytes)
        await client.shutdown()
        await #expect(throws: HAR.Problem.self) { try await recorder.finish() }
        #expect(recorder.lost == 1)
        #expect(try HAR(contentsOf: path).lost == .max)
    }

    @Test func `names that the archive's head lacks are noted with each entry`() async throws {
        let folder = try Folder(with: "a")
        let path = "\(folder.path)/a.har"
        let backend = MockTransport()
        backend.otherwise { _ in .respond(body: "x") }
        for (names, target) in [([], "a"), (["ticket"], "b?ticket=one"), (["ticket", "seat"], "c?seat=one")] {
            var settings = HARRecorder.Settings(bodyLimit: 100, existing: .append)
            settings.secretFields = HTTP.SecretFields(names)
            let recorder = try HARRecorder(path, settings)
            let client = try HTTPSession(baseURL: "http://a.test") {
                $0.transport = backend
                $0.observers.append(recorder)
            }
            _ = try await client.get(HTTP.Target(target), as: .string)
            await client.shutdown()
            try await recorder.finish()
        }
        #expect(try HAR(contentsOf: path).entries.map(\.secretNames) == [nil, ["ticket"], ["seat", "ticket"]])
        let transport = try RecordedTransport(path)
        let client = try HTTPSession(baseURL: "http://a.test") { $0.transport = transport }
        for target in ["a", "b?ticket=two", "c?seat=two"] {
            _ = try await client.get(HTTP.Target(target), as: .bytes)
        }
        try await transport.finish()
    }

    @Test func `a file that would lose something is not written to`() throws {
        let folder = try Folder(with: "a")
        let existing = try folder.write(Array(#"{"log":{"entries":[]}}"#.utf8), as: "a.har")
        let refused = #expect(throws: HAR.Problem.self) { try HARFile(existing, .refuse, HAR()) }
        #expect(refused?.reason.contains("exists") == true)
        for text in [
            #"{"log":{"entries":[],"pages":[]}}"#, "no archive", "[]", #"{"x":{"entries":[]}}"#,
            #"{"log":{"entries":[],"_lost":3,"pages":[]}}"#,
        ] {
            let path = try folder.write(Array(text.utf8), as: "b.har")
            #expect(throws: HAR.Problem.self) { try HARFile(path, .append, HAR()) }
            #expect(try Data(contentsOf: URL(filePath: path)) == Data(text.utf8))
        }
        try FileManager.default.createSymbolicLink(
            atPath: "\(folder.path)/link.har", withDestinationPath: existing)
        #expect(throws: HAR.Problem.self) { try HARFile("\(folder.path)/link.har", .append, HAR()) }
        #expect(throws: HAR.Problem.self) { try HARFile("\(folder.path)/none/a.har", .append, HAR()) }
    }

    @Test func `wherever the end is torn, whole entries are read and gone on with`() throws {
        let folder = try Folder(with: "a")
        let path = "\(folder.path)/a.har"
        try Self.write(3, to: path)
        let text = Array(try Data(contentsOf: URL(filePath: path)))
        var ends: [Int] = []
        for number in 1...3 {
            let part = try folder.write([], as: "p.har")
            try Self.write(number, to: part)
            ends.append(try Data(contentsOf: URL(filePath: part)).count - "\n]}}\n".count)
        }
        for length in ends[0]..<text.count where length % 9 == 0 || ends.contains(where: { abs($0 - length) < 6 }) {
            let torn = try folder.write(text[..<length], as: "torn.har")
            let whole = ends.filter { $0 <= length }.count
            #expect(try HAR(contentsOf: torn).entries == (0..<whole).map(Self.entry))
            try Self.write(1, to: torn)
            let gone = try HAR(contentsOf: torn)
            #expect(!gone.wasTorn && gone.entries == (0..<whole).map(Self.entry) + [Self.entry(0)])
        }
    }

    @Test(arguments: [
        ("{", "line 1"), ("{\n\"log\": {\"entries\": [}}", "line 2"), ("{}", "log"), ("[1]", "no HTTP archive"),
        (#"{"log":{"entries":[{"request":{}}]}}"#, "entries"), ("", "line 1"),
    ]) func `a bad file is refused with the line or the name of what is wrong`(text: String, reason: String) throws {
        let folder = try Folder(with: "a")
        let path = try folder.write(Array(text.utf8), as: "a.har")
        let problem = #expect(throws: HAR.Problem.self) { try HAR(contentsOf: path) }
        #expect(problem.map { "\($0)".contains(reason) && "\($0)".contains("a.har") } == true)
    }

    @Test func `what a queue has no room for is lost, and counted`() throws {
        var queue = DraftQueue<Int>(mostDrafts: 3, mostBytes: .max)
        let session = try HTTPSession(HTTPSession.Configuration(transport: MockTransport()))
        let task = try session.task("http://a.test", as: .bytes)
        let head = RequestHead(method: .get, origin: HTTP.Origin(scheme: .http, host: "a.test"), target: "/")
        let draft = Draft(Date(), task.snapshot, head, bodies: nil)
        var added: [Bool] = []
        for _ in 0..<5 { added.append(queue.add(draft)) }
        #expect(added == [true, false, false, false, false])
        #expect(queue.lost == 2)
        var mustWait = queue.wait(7)
        #expect(mustWait)
        let drafts = queue.next()
        #expect(drafts?.count == 3)
        // What comes later is not waited for.
        added.append(queue.add(draft))
        #expect(queue.wrote(3) == [7] && added.last == false)
        mustWait = queue.wait(8)
        #expect(mustWait && queue.next()?.count == 1)
        #expect(queue.wrote(1) == [8] && queue.next() == nil)
        mustWait = queue.wait(9)
        let mustBegin = queue.add(draft)
        #expect(!mustWait && mustBegin)
    }
}
