import Dunlin
import DunlinTesting
import FoundationEssentials
import Mocking
import Testing

@Suite(.timeLimit(.minutes(10))) struct `JSON of a session` {
    private struct Person: Codable, Equatable {
        var firstName: String
        var born: Date
    }

    private static let text: Bytes = #"{"first_name":"Ada","born":"1815-12-10T00:00:00Z"}"#
    private static let person = Person(firstName: "Ada", born: Date(timeIntervalSince1970: -4_861_728_000))

    private func mocked(_ json: HTTP.JSON, isObserved: Bool = false) throws -> Mocked {
        let mocked = try Mocked {
            $0.json = json
            if isObserved { $0.hooks.downloadProgress = { _, _ in } }
        }
        mocked.transport.otherwise { _ in .respond(fields: ["Content-Type": "application/json"], body: Self.text) }
        return mocked
    }

    @Test(arguments: [false, true])
    func `a session's own way of reading JSON counts for every call`(isObserved: Bool) async throws {
        let session = try mocked(.snakeCase.iso8601, isObserved: isObserved).session
        #expect(try await session.get("x", as: Person.self) == Self.person)
        #expect(try await session.get("x", as: .json(Person.self)).value == Self.person)
        #expect(try await session.get("x", as: .json(Person.self).strict.map(\.firstName)).value == "Ada")
    }

    @Test(arguments: [false, true])
    func `a value that may be nil, or is a protocol's, has its own type`(isObserved: Bool) async throws {
        let mocked = try Mocked { if isObserved { $0.hooks.downloadProgress = { _, _ in } } }
        mocked.transport.otherwise { _ in .respond(fields: ["Content-Type": "application/json"], body: "null") }
        let session = mocked.session
        #expect(try await session.get("x", as: Int?.self) == nil)
        let lists = JSONSerializer([Int]?.self)
        #expect(try await session.get("x", as: lists.map { [$0, [1]] }).value == [nil, [1]])
        #expect(try await session.get("x", as: lists.map { Int??.some($0?.first) }).value == .some(nil))
        let anything = try await session.get("x", as: lists.map { $0.map { $0 as any Sendable } }).value
        #expect(anything == nil)
        #expect(try await session.get("x", as: lists.map { _ in "a" as any Sendable }).value as? String == "a")
    }

    @Test func `a call's own way of reading JSON counts before the session's`() async throws {
        let usual = try mocked(.standard).session
        let refused = try await networkError { _ = try await usual.get("x", as: Person.self) }
        #expect(refused?.code == .decodingFailed)
        #expect(try await usual.get("x", as: .json(Person.self, .snakeCase.iso8601)).value == Self.person)
        let other = try mocked(.snakeCase.iso8601).session
        let again = try await networkError { _ = try await other.get("x", as: .json(Person.self, .standard)) }
        #expect(again?.code == .decodingFailed)
    }

    @Test func `a decoder of the user's own can be given to a session or to a call`() async throws {
        var json = HTTP.JSON()
        json.decoder = {
            let decoder = JSONDecoder()
            decoder.keyDecodingStrategy = .convertFromSnakeCase
            decoder.dateDecodingStrategy = .iso8601
            return decoder
        }
        #expect(try await mocked(json).session.get("x", as: Person.self) == Self.person)
        let serializer = JSONSerializer(Person.self).decoding {
            $0.keyDecodingStrategy = .convertFromSnakeCase
            $0.dateDecodingStrategy = .iso8601
        }
        #expect(try await mocked(.standard).session.get("x", as: serializer).value == Self.person)
    }

    @Test func `values of a stream are read in the session's way, or in another`() async throws {
        let session = try mocked(.snakeCase.iso8601).session
        let people = try await session.withResponse(from: "x") { response in
            var people: [Person] = []
            for try await person in response.values(of: Person.self) { people.append(person) }
            return people
        }
        #expect(people == [Self.person])
        let refused = try await networkError {
            try await session.withResponse(from: "x") { response in
                for try await _ in response.values(of: Person.self, .standard) {}
            }
        }
        #expect(refused?.code == .decodingFailed)
    }

    @Test func `the data of an event is read as JSON`() throws {
        let event = ServerSentEvent(data: String(Self.text))
        #expect(try event.json(Person.self, .snakeCase.iso8601) == Self.person)
        #expect(throws: DecodingError.self) { try event.json(Person.self) }
    }

    @Test func `a body is written in the way that is given`() throws {
        let body = try RequestBody.json(Self.person, .snakeCase.iso8601)
        guard case .bytes(let bytes) = body.content else {
            Issue.record("no bytes")
            return
        }
        #expect(bytes == Self.text)
    }
}
