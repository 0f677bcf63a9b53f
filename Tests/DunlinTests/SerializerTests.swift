import Testing

@testable import Dunlin

@Suite struct `Serializers` {
    private struct Point: Codable, Equatable {
        var x: Int
    }

    private static func response(
        _ body: Bytes = "{\"x\":1}", _ status: Status = 200, type: String? = nil
    ) -> HTTPSession.Response<Bytes> {
        let fields: Fields = type.map { ["Content-Type": $0] } ?? [:]
        return HTTPSession.Response(
            head: ResponseHead(version: .http11, status: status, fields: fields), value: body, body: body)
    }

    @Test(
        arguments: [
            (nil, true), ("application/json", true), ("APPLICATION/JSON ; charset=utf-8", true), ("text/json", true),
            ("application/problem+json", true), ("application/vnd.x+JSON;v=1", true), ("text/html", false),
            ("application/jsonp", false), ("", false),
        ] as [(String?, Bool)])
    func `of JSON accept JSON and what declares no type`(type: String?, isAccepted: Bool) throws {
        let response = Self.response(type: type)
        if isAccepted {
            try JSONSerializer(Point.self).validate(response)
        } else {
            let failure = #expect(throws: NetworkError.self) { try JSONSerializer(Point.self).validate(response) }
            #expect(failure?.code == .unacceptableContentType)
            #expect(failure?.response?.status == 200)
            #expect(failure?.body == response.body)
        }
    }

    @Test(arguments: [199, 300, 304, 404, 500] as [Status])
    func `refuse a status other than 2xx, with what was said`(status: Status) {
        let failures = [
            #expect(throws: NetworkError.self) { try BytesSerializer().validate(Self.response("why", status)) },
            #expect(throws: NetworkError.self) {
                try JSONSerializer(Point.self).validate(Self.response("why", status))
            },
        ]
        for failure in failures {
            #expect(failure?.code == .unacceptableStatus)
            #expect(failure?.response?.status == status)
            #expect(failure?.body == "why")
            #expect(failure?.requestMayHaveBeenSent == true)
        }
    }

    @Test(arguments: [200, 204, 299] as [Status])
    func `take any 2xx, and no type of an empty body`(status: Status) throws {
        try JSONSerializer(Point.self).validate(Self.response("", status, type: "text/html"))
        try BytesSerializer().validate(Self.response("x", status, type: "text/html"))
    }

    @Test(arguments: [(65_535, 65_535), (65_536, 65_536), (65_537, 65_536), (1_000_000, 65_536)])
    func `keep a bounded part of what they refuse`(count: Int, kept: Int) {
        let body = Bytes([UInt8](repeating: 1, count: count))
        let failure = #expect(throws: NetworkError.self) { try BytesSerializer().validate(Self.response(body, 500)) }
        #expect(failure?.body?.count == kept)
    }

    @Test func `of JSON decode, or say what the decoder said`() throws {
        #expect(try JSONSerializer(Point.self).serialize(Self.response()) == Point(x: 1))
        #expect(throws: DecodingError.self) { try JSONSerializer(Point.self).serialize(Self.response("{}")) }
        #expect(throws: DecodingError.self) { try JSONSerializer(Point.self).serialize(Self.response("{\"x\":")) }
    }

    static let texts: [(Bytes, String?, String?)] = [
        ("ü", nil, "ü"), ("ü", "text/plain", "ü"), ("ü", "text/plain; charset=UTF-8", "ü"),
        ("ü", "text/plain;x=y; Charset=\"utf-8\"", "ü"), ([0xFC], "text/plain; charset=ISO-8859-1", "ü"),
        ([0xFC], "text/plain; charset=latin1", "ü"), ([0xFC], nil, nil), ([0xFC], "text/plain; charset=utf-8", nil),
        ("x", "text/plain; charset=shift_jis", nil), ("", nil, ""),
    ]

    @Test(arguments: texts)
    func `of text go by the declared encoding and refuse what it is not`(
        body: Bytes, type: String?, expected: String?
    ) throws {
        let response = Self.response(body, type: type)
        if let expected {
            #expect(try StringSerializer().serialize(response) == expected)
        } else {
            let failure = #expect(throws: NetworkError.self) { try StringSerializer().serialize(response) }
            #expect(failure?.code == .unacceptableContentType)
        }
    }

    @Test func `ask for what they can read`() {
        #expect(JSONSerializer(Point.self).accept == "application/json")
        #expect(BytesSerializer().accept == nil)
        #expect(StringSerializer().accept == nil)
    }

    @Test func `keep the head, the fields and the metrics of a response they made a value of`() {
        let response = Self.response(type: "text/plain").with(value: 5)
        #expect(response.value == 5)
        #expect(response.status == 200)
        #expect(response.fields["content-type"] == "text/plain")
        #expect(String(response.body) == "{\"x\":1}")
    }
}
