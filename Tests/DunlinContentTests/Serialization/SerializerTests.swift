import Dunlin
import FoundationEssentials
import LedgerRows
import Testing

@testable import DunlinContent

@Suite struct `Serializers` {
    private struct Point: Codable, Equatable {
        var x: Int
    }

    @Test(
        .rows("RS-4", "RS-20", "RS-21", "RS-32"),
        arguments: [
            (nil, true), ("application/json", true), ("APPLICATION/JSON ; charset=utf-8", true), ("text/json", true),
            ("text/javascript", true), ("application/problem+json", true),
            ("application/vnd.api+json; ext=1", true), ("text/x+JSON", true), ("application/json+x", false),
            ("application/+jsonp", false), ("json", false), ("text/html", false),
            ("application/jsonp", false), ("", false),
        ] as [(String?, Bool)])
    func `a JSON serializer accepts JSON types and a response without a type`(type: String?, isAccepted: Bool) throws {
        let response = Replies.made(type: type)
        if isAccepted {
            try JSONSerializer(Point.self).validate(response)
        } else {
            let failure = #expect(throws: NetworkError.self) { try JSONSerializer(Point.self).validate(response) }
            #expect(failure?.code == .unacceptableContentType)
            #expect(failure?.response?.status == 200)
            #expect(failure?.body == response.body)
        }
    }

    @Test(arguments: [("application/json", true), ("application/problem+json", false), ("text/html", false)])
    func `a dynamic JSON serializer does not accept types that end in +json`(type: String, isAccepted: Bool) {
        let failure = Replies.failure { try DynamicValue.JSONSerializer().validate(Replies.made(type: type)) }
        #expect((failure == nil) == isAccepted)
    }

    @Test(
        .rows("RS-4"),
        arguments: [
            ("x", nil, false), ("x", "", false), ("", nil, true), ("", "", true), ("x", "application/json", true),
            ("x", "text/html", false),
        ] as [(Bytes, String?, Bool)])
    func `a response without a content type is refused if one is required`(body: Bytes, type: String?, isAccepted: Bool)
    {
        let response = Replies.made(body, type: type)
        let failures = [
            Replies.failure { try JSONSerializer(Point.self).requiringContentType().validate(response) },
            Replies.failure { try DynamicValue.JSONSerializer().requiringContentType().validate(response) },
            Replies.failure {
                try JSONSerializer(Point.self).with(
                    rules: .init(contentTypes: ["+json", "*/json"], requiresContentType: true)
                )
                .validate(response)
            },
        ]
        for failure in failures {
            #expect((failure == nil) == isAccepted)
            #expect(
                failure.map { $0.code == .unacceptableContentType && $0.reason.contains("expected one of") } ?? true)
        }
        let any = Replies.failure { try BytesSerializer().requiringContentType().validate(response) }
        #expect((any == nil) == (isAccepted || type == "text/html"))
        let unmet = "the response declares no content type, and `requiresContentType` is set"
        #expect(any.map { $0.reason == unmet } ?? true)
        let first = Replies.failure {
            _ = try FirstMatchSerializer([JSONSerializer(Point?.self).requiringContentType()]).serialize(response)
        }
        #expect(type != nil || body.isEmpty == (first == nil))
    }

    @Test(
        .rows("RS-5", "RS-7", "RS-20", "RS-32"),
        arguments: [
            ("application/problem+json", true), ("application/vnd.x+JSON;v=1", true), ("text/plain", true),
            ("text/html", false), ("application/json", true),
        ])
    func `a serializer accepts the types that are added to it`(type: String, isAccepted: Bool) throws {
        let serializer = JSONSerializer(Point.self).accepting("+json", "Text/Plain")
        let failure = Replies.failure { try serializer.validate(Replies.made(type: type)) }
        #expect((failure == nil) == isAccepted)
        #expect(failure.map { $0.reason.contains("application/json, text/json") } ?? true)
    }

    @Test func `a serializer accepts the statuses that are added to it, or any rules it is given`() throws {
        let missing = Replies.made("", 404)
        #expect(throws: NetworkError.self) { try JSONSerializer(Point?.self).validate(missing) }
        let lenient = JSONSerializer(Point?.self).accepting(statuses: [404])
        try lenient.validate(missing)
        #expect(try lenient.serialize(missing) == nil)
        let any = BytesSerializer().with(rules: HTTP.ResponseRules(statuses: nil))
        try any.validate(Replies.made("x", 500))
        #expect(throws: NetworkError.self) { try any.with(rules: .json).validate(Replies.made(type: "text/html")) }
    }

    @Test(
        .rows("HS-14", "RS-1", "RS-2", "RS-9", "RS-10", "RS-12"), arguments: [199, 300, 304, 404, 500] as [HTTP.Status])
    func `a status other than 2xx is refused with its head and body`(status: HTTP.Status) {
        let failures = [
            Replies.failure { try BytesSerializer().validate(Replies.made("why", status)) },
            Replies.failure { try JSONSerializer(Point.self).validate(Replies.made("why", status)) },
        ]
        for failure in failures {
            #expect(failure?.code == .unacceptableStatus)
            #expect(failure?.response?.status == status)
            #expect(failure?.body == "why")
            #expect(failure?.requestMayHaveBeenSent == true)
            #expect(failure?.underlying == nil)
        }
    }

    @Test(.rows("RS-11", "RS-15")) func `a refused type is the cause under a refused status`() {
        let both = Replies.made("<p>", 500, type: "text/html")
        let failure = Replies.failure { try JSONSerializer(Point.self).validate(both) }
        #expect(failure?.code == .unacceptableStatus)
        #expect((failure?.underlying as? NetworkError)?.code == .unacceptableContentType)
    }

    @Test(.rows("RS-1", "RS-4", "RS-14"), arguments: [200, 204, 299] as [HTTP.Status])
    func `any 2xx status is accepted, and the type of an empty body is not checked`(status: HTTP.Status) throws {
        try JSONSerializer(Point.self).validate(Replies.made("", status, type: "text/html"))
        try BytesSerializer().validate(Replies.made("x", status, type: "text/html"))
    }

    @Test(
        .rows("HS-14", "RS-10", "RS-22"),
        arguments: [(262_143, 262_143), (262_144, 262_144), (262_145, 262_144), (1_000_000, 262_144)])
    func `a refused body is kept up to 262144 bytes`(count: Int, kept: Int) {
        let body = Bytes([UInt8](repeating: 1, count: count))
        let failure = Replies.failure { try BytesSerializer().validate(Replies.made(body, 500)) }
        #expect(failure?.body?.count == kept)
    }

    @Test(.rows("RS-24")) func `a JSON serializer decodes the body or throws the decoder's error`() throws {
        #expect(try JSONSerializer(Point.self).serialize(Replies.made()) == Point(x: 1))
        #expect(throws: DecodingError.self) { try JSONSerializer(Point.self).serialize(Replies.made("{}")) }
        #expect(throws: DecodingError.self) { try JSONSerializer(Point.self).serialize(Replies.made("{\"x\":")) }
    }

    @Test func `a JSON serializer uses the decoder that it is given`() throws {
        let dated = JSONSerializer([Date].self).decoding { $0.dateDecodingStrategy = .secondsSince1970 }
        #expect(try dated.serialize(Replies.made("[0]")) == [Date(timeIntervalSince1970: 0)])
    }

    @Test(.rows("RS-28")) func `JSON is read in UTF-8, 16 and 32, and in its declared charset only if asked to`() throws
    {
        for (bytes, _) in CharsetSamples.unicode("[\"ä\"]") {
            #expect(try JSONSerializer([String].self).serialize(Replies.made(bytes)) == ["ä"])
        }
        let latin = Replies.made(
            Bytes(Array("[\"".utf8) + [0xE4] + Array("\"]".utf8)), type: "text/json;charset=latin1")
        #expect(throws: (any Error).self) { try JSONSerializer([String].self).serialize(latin) }
        var serializer = JSONSerializer([String].self)
        serializer.honorsCharset = true
        #expect(try serializer.serialize(latin) == ["ä"])
    }

    @Test(.rules("9110-12.5.1-1")) func `a serializer's Accept field names the type that it reads`() {
        #expect(JSONSerializer(Point.self).accept == "application/json")
        #expect(PropertyListSerializer(Point.self).accept == "application/x-plist")
        #expect(BytesSerializer().accept == nil)
        #expect(StringSerializer().accept == nil)
        #expect(JSONSerializer(Point.self).map(\.x).accept == "application/json")
    }

    @Test(.rows("RS-55")) func `a mapped serializer keeps its rules`() throws {
        let mapped = JSONSerializer(Point.self).map(\.x)
        #expect(try mapped.serialize(Replies.made()) == 1)
        #expect(throws: NetworkError.self) { try mapped.validate(Replies.made(type: "text/html")) }
    }

    @Test func `a response with a new value keeps its status, its fields and its body`() {
        let whole = Replies.made(type: "text/plain")
        let response = HTTPSession.Response(head: whole.head, value: whole.body, body: whole.body).with(value: 5)
        #expect(response.value == 5)
        #expect(response.status == 200)
        #expect(response.fields["content-type"] == "text/plain")
        #expect(String(response.body) == "{\"x\":1}")
    }
}
