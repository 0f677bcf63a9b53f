import Dunlin
import DunlinTesting
import FoundationEssentials
import Testing

@testable import NotesStep1
@testable import NotesStep2
@testable import NotesStep3
@testable import NotesStep4

/// What each step of the article "A client in six steps" is said to do. The tests of the sixth are `NotesClientTests`.
@Suite struct `Steps of the tutorial` {
    /// Answers a login, one note, and what is added; other notes are not there.
    private static func service() throws -> LoopbackServer {
        let json: Fields = ["Content-Type": "application/json"]
        let note = #"{"id": 7, "title": "Waders", "text": "Seen at low tide"}"#
        let server = try LoopbackServer()
        server.route(.post, "/login", .response(fields: json, body: #"{"token": "t1", "lifetime": 3600}"#))
        server.route(.get, "/notes/7", .response(fields: json, body: Bytes(note)))
        server.route(.get, "/notes?q=low%20tide&page=2", .response(fields: json, body: Bytes("[\(note)]")))
        server.route(.post, "/notes", .response(201, fields: json, body: Bytes(note)))
        server.route(.delete, "/notes/7", .response(204))
        return server
    }

    @Test func `the first step gets what the service sends`() async throws {
        let server = try Self.service()
        defer { server.stop() }
        let client = try NotesStep1.NotesClient(url: server.baseURL)
        #expect(try await client.note(7).contains("Waders"))
    }

    @Test func `the second step gets a value, and has an error of its own`() async throws {
        let server = try Self.service()
        defer { server.stop() }
        let client = try NotesStep2.NotesClient(url: server.baseURL)
        #expect(try await client.note(7).title == "Waders")
        await #expect(throws: NotesStep2.NotesError.noNote(id: 8)) { try await client.note(8) }
    }

    @Test func `the third step sends queries, bodies and a field`() async throws {
        let server = try Self.service()
        defer { server.stop() }
        let client = try NotesStep3.NotesClient(url: server.baseURL)
        #expect(try await client.notes(with: "low tide", page: 2).map(\.id) == [7])
        #expect(try await client.add(.init(title: "Waders", text: "Seen at low tide")).id == 7)
        try await client.remove(7)
        #expect(server.requests.map { $0.fields["User-Agent"] } == ["Notes/1.0", "Notes/1.0", "Notes/1.0"])
    }

    @Test func `the fourth step logs in once`() async throws {
        let server = try Self.service()
        defer { server.stop() }
        let client = try NotesStep4.NotesClient(url: server.baseURL, user: "ada", password: "secret")
        _ = try await client.note(7)
        _ = try await client.note(7)
        #expect(server.requests.map(\.target) == ["/login", "/notes/7", "/notes/7"])
        #expect(server.requests.map { $0.fields["Authorization"] } == [nil, "Bearer t1", "Bearer t1"])
    }

    private static let package = URL(filePath: #filePath).appending(path: "../../..").standardized

    private static func text(_ path: String) throws -> String {
        String(decoding: try Data(contentsOf: package.appending(path: path)), as: UTF8.self)
    }

    private static let files =
        ["NotesStep1", "NotesStep2", "NotesStep3", "NotesStep4", "Notes"].map {
            "Tests/Tutorial/\($0)/NotesClient.swift"
        }
        + ["Tests/TutorialTests/NotesClientTests.swift"]

    /// One after the other, the snippets of Swift code.
    @Test func `the article shows the files of the steps as they are`() throws {
        let article = try Self.text("Sources/Dunlin/Dunlin.docc/Tutorial.md")
        let snippets = article.split(separator: "```swift\n").dropFirst().map { rest in
            String(rest[..<(rest.firstRange(of: "```")?.lowerBound ?? rest.endIndex)])
        }
        let shown = snippets.filter { !$0.contains(".package(") }
        #expect(shown == (try Self.files.map(Self.text)))
    }

    @Test func `each file of a step fits a page`() throws {
        for file in Self.files {
            for line in try Self.text(file).split(separator: "\n") { #expect(line.count <= 76, "\(file): \(line)") }
        }
    }
}
