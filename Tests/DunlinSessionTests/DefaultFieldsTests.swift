import Dunlin
import DunlinTesting
import DunlinWire
import LedgerRows
import Mocking
import Testing

@testable import DunlinSession

@Suite struct `A session's default fields` {
    static let unfit: [(Fields, WireError)] = [
        (["X": "a\r\nb"], .invalidRequestFieldValue(name: "X")),
        (["a b": ""], .invalidRequestFieldName(beginning: "a")),
    ]

    @Test(.rows("RQ-49"), arguments: unfit)
    func `default fields that cannot be sent are refused when the session is made`(fields: Fields, cause: WireError) {
        let failure = #expect(throws: NetworkError.self) { try HTTPSession(.init(fields: fields)) }
        #expect(failure?.code == .invalidConfiguration)
        #expect(failure?.underlying as? WireError == cause)
    }

    @Test func `default fields go out prepared unless the request adds to them`() throws {
        let builder = try RequestBuilder(.init(baseURL: "http://example.com", fields: ["Accept": "*/*"]))
        #expect(try builder.head(.get, "a").prepared != nil)
        #expect(try builder.head(.get, "a", own: ["X": "1"]).prepared == nil)
        #expect(try builder.head(.get, "a", accept: "text/plain").prepared == nil)
        #expect(try builder.head(.post, "a", body: .string("x")).prepared == nil)
    }

    @Test func `default fields that are judged with their request are not prepared`() throws {
        let builder = try RequestBuilder(.init(baseURL: "http://example.com", fields: ["Connection": "close"]))
        let head = try builder.head(.get, "a")
        #expect(head.prepared == nil)
        #expect(head.fields == ["Connection": "close"])
    }

    /// The session's; the serializer's; the request's; what is sent.
    static let accepts: [(String?, String?, String?, String?)] = [
        (nil, nil, nil, nil), (nil, "s/s", nil, "s/s"), ("*/*", nil, nil, "*/*"), ("*/*", "s/s", nil, "s/s"),
        ("c/c", nil, nil, "c/c"), ("c/c", "s/s", nil, "c/c"), ("c/c", "s/s", "r/r", "r/r"),
        ("*/*", "s/s", "r/r", "r/r"),
        ("c/c, */*", "s/s", nil, "c/c, */*"), ("", "s/s", nil, ""),
    ]

    @Test(arguments: accepts)
    func `a session's own Accept counts before a serializer's and after the request's`(
        session: String?, serializer: String?, request: String?, sent: String?
    ) throws {
        var configuration = HTTPSession.Configuration(baseURL: "http://a.test")
        configuration.fields["Accept"] = session
        var own = Fields()
        own["accept"] = request
        let head = try RequestBuilder(configuration).head(.get, "x", own: own, accept: serializer)
        #expect(head.fields.values(of: "accept") == (sent.map { [$0] } ?? []))
        // What nothing is added to goes out prepared.
        #expect((head.prepared == nil) == (request != nil || sent != session))
    }

    /// The session's; the request's; what is sent with decoding and without.
    static let codings: [(String?, String?, String?, String?)] = [
        ("gzip, deflate", nil, "gzip, deflate", nil), ("gzip, deflate", "br", "br", "br"), (nil, nil, nil, nil),
        ("gzip", nil, "gzip", "gzip"), (nil, "gzip", "gzip", "gzip"),
    ]

    @Test(arguments: codings)
    func `the default Accept-Encoding is not sent where content is not decoded`(
        session: String?, request: String?, decoded: String?, raw: String?
    ) async throws {
        let mocked = try Mocked { $0.fields["Accept-Encoding"] = session }
        mocked.transport.otherwise { _ in .respond() }
        for (decodes, expected) in [(true, decoded), (false, raw)] {
            var options = HTTPSession.Options(decodesContent: decodes)
            options.fields["accept-encoding"] = request
            _ = try await mocked.session.get("x", options: options, as: .bytes)
            try await mocked.session.withResponse(from: "x", options: options) { _ in }
            _ = try await mocked.session.task("x", options: options, as: .bytes).value
            for sent in mocked.transport.requests.suffix(3) {
                #expect(sent.fields.values(of: "accept-encoding") == (expected.map { [$0] } ?? []))
                #expect(sent.fields["Accept"] == "*/*")
            }
        }
    }
}
