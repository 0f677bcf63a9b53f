import Dunlin
import FoundationEssentials
import Testing
@testable import DunlinContent

@Suite struct `Serializers` {
    private struct Point: Codable, Equatable {
        var x: Int
    }

    @Test(
        arguments: [
            (nil, true), ("application/json", true), ("APPLICATION/JSON ; charset=utf-8", true), ("text/json", true),
            ("text/javascript", true), ("application/problem+json", true),
            ("application/vnd.api+json; ext=1", true), ("text/x+JSON", true), ("application/json+x", false),
            ("application/+jsonp", false), ("json", false), ("text/html", false),
            ("application/jsonp", false), ("", false),
        ] as [(String?, Bool)])
    func `of JSON accept JSON and what declares no type`(type: String?, isAccepted: Bool) throws {
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
    func `of JSON without a type keep to AFNetworking's three`(type: String, isAccepted: Bool) {
        let failure = Replies.failure { try DynamicJSONSerializer().validate(Replies.made(type: type)) }
        #expect((failure == nil) == isAccepted)
    }

    @Test(
        arguments: [
            ("x", nil, false), ("x", "", false), ("", nil, true), ("", "", true), ("x", "application/json", true),
            ("x", "text/html", false),
        ] as [(Bytes, String?, Bool)])
    func `refuse what declares no type when they are asked to`(body: Bytes, type: String?, isAccepted: Bool) {
        let response = Replies.made(body, type: type)
        let failures = [
            Replies.failure { try JSONSerializer(Point.self).requiringContentType().validate(response) },
            Replies.failure { try DynamicJSONSerializer().requiringContentType().validate(response) },
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
        let first = Replies.failure {
            _ = try CompoundSerializer([JSONSerializer(Point?.self).requiringContentType()]).serialize(response)
        }
        #expect(type != nil || body.isEmpty == (first == nil))
    }

    @Test(
        arguments: [
            ("application/problem+json", true), ("application/vnd.x+JSON;v=1", true), ("text/plain", true),
            ("text/html", false), ("application/json", true),
        ])
    func `take further types when they are asked to`(type: String, isAccepted: Bool) throws {
        let serializer = JSONSerializer(Point.self).accepting("+json", "Text/Plain")
        let failure = Replies.failure { try serializer.validate(Replies.made(type: type)) }
        #expect((failure == nil) == isAccepted)
        #expect(failure.map { $0.reason.contains("application/json, text/json") } ?? true)
    }

    @Test func `take further statuses when they are asked to, or whatever rules they are given`() throws {
        let missing = Replies.made("", 404)
        #expect(throws: NetworkError.self) { try JSONSerializer(Point?.self).validate(missing) }
        let lenient = JSONSerializer(Point?.self).accepting(statuses: [404])
        try lenient.validate(missing)
        #expect(try lenient.serialize(missing) == nil)
        let any = BytesSerializer().with(rules: HTTP.ResponseRules(statuses: nil))
        try any.validate(Replies.made("x", 500))
        #expect(throws: NetworkError.self) { try any.with(rules: .json).validate(Replies.made(type: "text/html")) }
    }

    @Test(arguments: [199, 300, 304, 404, 500] as [Status])
    func `refuse a status other than 2xx, with what was said`(status: Status) {
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

    @Test func `put a refused type under a refused status`() {
        let both = Replies.made("<p>", 500, type: "text/html")
        let failure = Replies.failure { try JSONSerializer(Point.self).validate(both) }
        #expect(failure?.code == .unacceptableStatus)
        #expect((failure?.underlying as? NetworkError)?.code == .unacceptableContentType)
    }

    @Test(arguments: [200, 204, 299] as [Status])
    func `take any 2xx, and no type of an empty body`(status: Status) throws {
        try JSONSerializer(Point.self).validate(Replies.made("", status, type: "text/html"))
        try BytesSerializer().validate(Replies.made("x", status, type: "text/html"))
    }

    @Test(arguments: [(262_143, 262_143), (262_144, 262_144), (262_145, 262_144), (1_000_000, 262_144)])
    func `keep a bounded part of what they refuse`(count: Int, kept: Int) {
        let body = Bytes([UInt8](repeating: 1, count: count))
        let failure = Replies.failure { try BytesSerializer().validate(Replies.made(body, 500)) }
        #expect(failure?.body?.count == kept)
    }

    @Test func `of JSON decode, or say what the decoder said`() throws {
        #expect(try JSONSerializer(Point.self).serialize(Replies.made()) == Point(x: 1))
        #expect(throws: DecodingError.self) { try JSONSerializer(Point.self).serialize(Replies.made("{}")) }
        #expect(throws: DecodingError.self) { try JSONSerializer(Point.self).serialize(Replies.made("{\"x\":")) }
    }

    @Test func `of JSON decode with a decoder of one's own`() throws {
        let dated = JSONSerializer([Date].self).decoding { $0.dateDecodingStrategy = .secondsSince1970 }
        #expect(try dated.serialize(Replies.made("[0]")) == [Date(timeIntervalSince1970: 0)])
    }

    @Test func `of JSON read what UTF-8, 16 and 32 say, and another charset if they are to`() throws {
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

    @Test func `ask for what they can read`() {
        #expect(JSONSerializer(Point.self).accept == "application/json")
        #expect(PropertyListSerializer(Point.self).accept == "application/x-plist")
        #expect(BytesSerializer().accept == nil)
        #expect(StringSerializer().accept == nil)
        #expect(JSONSerializer(Point.self).map(\.x).accept == "application/json")
    }

    @Test func `are mapped with their rules`() throws {
        let mapped = JSONSerializer(Point.self).map(\.x)
        #expect(try mapped.serialize(Replies.made()) == 1)
        #expect(throws: NetworkError.self) { try mapped.validate(Replies.made(type: "text/html")) }
    }

    @Test func `keep the head, the fields and the metrics of a response they made a value of`() {
        let whole = Replies.made(type: "text/plain")
        let response = HTTPSession.Response(head: whole.head, value: whole.body, body: whole.body).with(value: 5)
        #expect(response.value == 5)
        #expect(response.status == 200)
        #expect(response.fields["content-type"] == "text/plain")
        #expect(String(response.body) == "{\"x\":1}")
    }
}
