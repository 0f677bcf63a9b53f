import Dunlin
import DunlinOpenAPI
import DunlinTesting
import Foundation
import HTTPTypes
import OpenAPIRuntime
import Testing

@Suite(.timeLimit(.minutes(5))) struct `A client as the generator writes it` {
    static let json: Fields = ["Content-Type": "application/json"]

    static func client(_ server: LoopbackServer) throws -> PetClient {
        PetClient(
            serverURL: try #require(URL(string: server.baseURL + "/v1")), transport: OpenAPITransport(try HTTPSession())
        )
    }

    @Test func `reads and writes values`() async throws {
        let server = try LoopbackServer()
        defer { server.stop() }
        server.route(.get, "/v1/pets/a%2Fb", .response(fields: Self.json, body: #"{"id":7,"name":"Ida"}"#))
        server.route("/v1/pets") { _, request in .response(.created, fields: Self.json, body: request.body) }
        let client = try Self.client(server)
        #expect(try await client.getPet(id: "a/b", tag: "x y&z").pet == PetClient.Pet(id: 7, name: "Ida"))
        let made = PetClient.Pet(id: 8, name: "Zoë")
        #expect(try await client.createPet(made).pet == made)
        let seen = server.requests
        #expect(seen[0].target == "/v1/pets/a%2Fb?tag=x%20y%26z")
        #expect(seen[0].fields["accept"] == "application/json")
        #expect(seen[1].fields["content-type"] == "application/json; charset=utf-8")
        #expect(server.connectionCount == 1)
        #expect(server.failures.isEmpty)
    }

    @Test func `gets a status that the document does not know, with its body`() async throws {
        let server = try LoopbackServer()
        defer { server.stop() }
        server.respond { _ in .response(.notFound, fields: ["Content-Type": "text/plain"], body: "no such pet") }
        guard case .undocumented(404, let payload) = try await Self.client(server).getPet(id: "1") else {
            Issue.record("a documented response")
            return
        }
        #expect(try await String(collecting: #require(payload.body), upTo: 100) == "no such pet")
    }

    @Test func `cannot be led to another path by a parameter`() async throws {
        let server = try LoopbackServer()
        defer { server.stop() }
        await #expect { try await Self.client(server).getPet(id: "..") } throws: {
            let error = $0 as? ClientError
            return error?.operationID == "getPet"
                && (error?.underlyingError as? NetworkError)?.code == .invalidRequest
        }
        #expect(server.requests.isEmpty)
    }

    @Test func `streams a body there and back at the same time`() async throws {
        let server = try LoopbackServer()
        defer { server.stop() }
        let seen = LoopbackServer.Gate()
        server.enqueue(
            LoopbackServer.Reply([
                .message(.init(.ok, fields: ["Transfer-Encoding": "chunked"])), .send("5\r\nfirst\r\n"),
                .send("0\r\n\r\n"),
            ]).beforeBody)
        let photo = Pieces(2) { if $0 == 1 { try await seen.opened() } }
        let answer = try await Self.client(server).putPhoto(id: "1", photo.body())
        var pieces = answer.makeAsyncIterator()
        #expect(try await pieces.next().map { String(decoding: $0, as: UTF8.self) } == "first")
        seen.open()
        #expect(try await pieces.next() == nil)
        try await eventually("the request") { server.requests.first?.isComplete == true }
        #expect(server.requests.first?.body == photo.whole)
        #expect(server.requests.first?.fields["content-type"] == "image/png")
    }

    @Test func `is told by a body that breaks off which operation it was`() async throws {
        let server = try LoopbackServer()
        defer { server.stop() }
        server.enqueue(
            LoopbackServer.Reply([.message(.init(.ok, fields: ["Content-Length": "10"], body: "half")), .close]))
        let answer = try await Self.client(server).putPhoto(id: "1", "x")
        await #expect { try await [UInt8](collecting: answer, upTo: 100) } throws: {
            let error = $0 as? NetworkError
            return error?.code == .connectionClosed && error?.reason.hasPrefix("operation putPhoto: ") == true
        }
    }
}
