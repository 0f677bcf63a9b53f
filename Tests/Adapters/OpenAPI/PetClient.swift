import Foundation
import HTTPTypes
@_spi(Generated) import OpenAPIRuntime

/// A client as swift-openapi-generator writes it, by hand and smaller: parameters in path and query, JSON both ways,
/// bodies that stream both ways, and responses that the document does not know.
struct PetClient: Sendable {
    private let client: UniversalClient
    private var converter: Converter { client.converter }

    init(serverURL: URL, transport: any ClientTransport, middlewares: [any ClientMiddleware] = []) {
        client = UniversalClient(serverURL: serverURL, transport: transport, middlewares: middlewares)
    }

    struct Pet: Codable, Hashable, Sendable {
        var id: Int
        var name: String
    }

    enum PetOutput: Sendable {
        case ok(Pet)
        case undocumented(Int, UndocumentedPayload)

        var pet: Pet {
            get throws {
                guard case .ok(let pet) = self else { throw Undocumented(output: self) }
                return pet
            }
        }
    }

    struct Undocumented: Error {
        let output: PetOutput
    }

    func getPet(id: String, tag: String? = nil) async throws -> PetOutput {
        try await client.send(
            input: id, forOperation: "getPet",
            serializer: { id in
                let path = try converter.renderedPath(template: "/pets/{}", parameters: [id])
                var request = HTTPRequest(soar_path: path, method: .get)
                try converter.setQueryItemAsURI(in: &request, style: .form, explode: true, name: "tag", value: tag)
                request.headerFields[.accept] = "application/json"
                return (request, nil)
            },
            deserializer: { response, body in try await output(200, response, body) })
    }

    func createPet(_ pet: Pet) async throws -> PetOutput {
        try await client.send(
            input: pet, forOperation: "createPet",
            serializer: { pet in
                var request = HTTPRequest(soar_path: "/pets", method: .post)
                let body = try converter.setRequiredRequestBodyAsJSON(
                    pet, headerFields: &request.headerFields, contentType: "application/json; charset=utf-8")
                return (request, body)
            },
            deserializer: { response, body in try await output(201, response, body) })
    }

    /// Sends a photo, and returns the answer's body, which is read by the caller.
    func putPhoto(id: String, _ photo: HTTPBody) async throws -> HTTPBody {
        try await client.send(
            input: id, forOperation: "putPhoto",
            serializer: { id in
                let path = try converter.renderedPath(template: "/pets/{}/photo", parameters: [id])
                var request = HTTPRequest(soar_path: path, method: .put)
                let body = try converter.setRequiredRequestBodyAsBinary(
                    photo, headerFields: &request.headerFields, contentType: "image/png")
                return (request, body)
            },
            deserializer: { _, body in
                try converter.getResponseBodyAsBinary(HTTPBody.self, from: body) { $0 }
            })
    }

    private func output(_ status: Int, _ response: HTTPResponse, _ body: HTTPBody?) async throws -> PetOutput {
        guard response.status.code == status else {
            return .undocumented(
                response.status.code, UndocumentedPayload(headerFields: response.headerFields, body: body))
        }
        _ = try converter.bestContentType(
            received: converter.extractContentTypeIfPresent(in: response.headerFields), options: ["application/json"])
        return try await converter.getResponseBodyAsJSON(Pet.self, from: body) { .ok($0) }
    }
}
