import Dunlin
import DunlinTesting
import Testing

@testable import Notes

@Suite struct `The client of notes` {
    let service = MockTransport()
    let clock = ManualClock()
    let waders = Note(id: 7, title: "Waders", text: "Seen at low tide")

    private func client() throws -> NotesClient {
        service.on(.post, "/login")
            .respond(json: ["token": "t1", "lifetime": 3600]).always()
        return try NotesClient(
            url: "https://notes.test/", user: "ada", password: "secret"
        ) {
            $0.transport = service
            try $0.use(clock)
        }
    }

    @Test func `a note is read with the token of the login`() async throws {
        service.on(.get, "/notes/7").respond(json: waders)
        let client = try client()
        #expect(try await client.note(7) == waders)

        let sent = service.requests.map { $0.fields["Authorization"] }
        #expect(sent == [nil, "Bearer t1"])
    }

    @Test func `a note that is not there has an error of its own`()
        async throws
    {
        service.on(.get, "/notes/8").respond(.notFound)
        let client = try client()
        await #expect(throws: NotesError.noNote(id: 8)) {
            try await client.note(8)
        }
    }

    @Test func `a note is added once, though the service was busy`()
        async throws
    {
        service.on(.post, "/notes").respond(.serviceUnavailable)
            .thenRespond(.created, json: waders)
        let client = try client()
        let draft = Draft(title: waders.title, text: waders.text)
        let note = try await clock.skippingWaits {
            try await client.add(draft, key: "k1")
        }
        #expect(note == waders)

        let keys = service.requests.compactMap {
            $0.fields["Idempotency-Key"]
        }
        #expect(keys == ["k1", "k1"])
    }

    @Test func `a silent service is given up`() async throws {
        service.on(.get, "/notes").never().always()
        let client = try client()
        let notes = Task { try await client.notes(with: "tide") }
        try await eventually("the request is on its way") {
            service.requests.count == 2
        }
        try await clock.advance(by: .seconds(21))
        let error = await #expect(throws: NetworkError.self) {
            try await notes.value
        }
        #expect(error?.code == .timedOut)
    }

    @Test func `it works over a real connection`() async throws {
        let server = try LoopbackServer()
        defer { server.stop() }
        server.route(
            .post, "/login",
            .response(
                fields: ["Content-Type": "application/json"],
                body: #"{"token": "t1", "lifetime": 3600}"#))
        server.route(
            .get, "/notes?q=tide&page=1",
            .response(
                fields: ["Content-Type": "application/json"], body: "[]"))
        let client = try NotesClient(
            url: server.baseURL, user: "ada", password: "secret")
        #expect(try await client.notes(with: "tide") == [])
        await client.close()
        #expect(server.failures.isEmpty)
    }
}
