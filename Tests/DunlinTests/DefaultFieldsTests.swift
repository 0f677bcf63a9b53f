import DunlinWire
import Testing

@testable import Dunlin

@Suite struct `A session's default fields` {
    static let unfit: [(Fields, WireError)] = [
        (["X": "a\r\nb"], .invalidRequestFieldValue(name: "X")), (["a b": ""], .invalidRequestFieldName),
    ]

    @Test(arguments: unfit)
    func `are refused when the session is made`(fields: Fields, cause: WireError) {
        let failure = #expect(throws: NetworkError.self) { try HTTPSession(.init(fields: fields)) }
        #expect(failure?.code == .invalidConfiguration)
        #expect(failure?.underlying as? WireError == cause)
    }

    @Test func `go out prepared unless the request adds to them`() throws {
        let builder = try RequestBuilder(.init(baseURL: "http://example.com", fields: ["Accept": "*/*"]))
        #expect(try builder.head(.get, "a", [:], .none, [:], nil).prepared != nil)
        #expect(try builder.head(.get, "a", [:], .none, ["X": "1"], nil).prepared == nil)
        #expect(try builder.head(.get, "a", [:], .none, [:], "text/plain").prepared == nil)
        #expect(try builder.head(.post, "a", [:], .string("x"), [:], nil).prepared == nil)
    }

    @Test func `that are judged with their request are not prepared`() throws {
        let builder = try RequestBuilder(.init(baseURL: "http://example.com", fields: ["Connection": "close"]))
        let head = try builder.head(.get, "a", [:], .none, [:], nil)
        #expect(head.prepared == nil)
        #expect(head.fields == ["Connection": "close"])
    }
}
