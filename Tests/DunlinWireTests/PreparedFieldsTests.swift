import DunlinTypes
import DunlinWire
import Testing

/// What a session sends with every request: checked once, and never again by mistake.
@Suite struct `Prepared fields` {
    private static let origin = HTTP.Origin(scheme: .http, host: "h.example")

    private static func encode(_ head: RequestHead, _ framing: RequestFraming = .none) throws(WireError) -> String {
        var buffer: [UInt8] = []
        try RequestEncoder.encode(head, framing: framing, into: &buffer)
        return String(Bytes(buffer))
    }

    static let plain: [Fields] = [
        [:], ["Accept": "*/*"], ["User-Agent": "Dunlin", "Accept": " \té\t ", "accept": ""],
        ["abcd": "4", "abcdef": "6", "abcdefghij": "10", "abcdefghijklmn": "14", "abcdefghijklmnopq": "17"],
    ]

    @Test(arguments: plain, [RequestFraming.none, .length(7), .chunked])
    func `prepared fields go out as the same bytes`(fields: Fields, framing: RequestFraming) throws {
        let prepared = try #require(try RequestEncoder.prepare(fields))
        let ready = RequestHead(method: .post, origin: Self.origin, target: "/", prepared: prepared)
        let plain = RequestHead(method: .post, origin: Self.origin, target: "/", fields: fields)
        #expect(try Self.encode(ready, framing) == Self.encode(plain, framing))
        #expect(ready.fields == fields)
    }

    @Test(arguments: ["TE", "Host", "EXPECT", "Upgrade", "connection", "Content-Length", "Transfer-Encoding"])
    func `fields that are judged with their request are not prepared`(name: String) throws {
        #expect(try RequestEncoder.prepare(["Accept": "*/*", name: "x"] as Fields) == nil)
    }

    static let unfit: [(Fields, WireError)] = [
        (["": "v"], .invalidRequestFieldName(beginning: "")), (["a b": "v"], .invalidRequestFieldName(beginning: "a")),
        (["X": "a\r\nb"], .invalidRequestFieldValue(name: "X")), (["X": "\0"], .invalidRequestFieldValue(name: "X")),
        (["Host": "a\nb"], .invalidRequestFieldValue(name: "Host")),
    ]

    @Test(arguments: unfit)
    func `fields that cannot be sent are not prepared`(fields: Fields, error: WireError) {
        #expect(throws: error) { try RequestEncoder.prepare(fields) }
    }

    @Test func `prepared fields are forgotten once the fields change`() throws {
        let prepared = try #require(try RequestEncoder.prepare(["Accept": "*/*"]))
        var head = RequestHead(method: .get, origin: Self.origin, target: "/", prepared: prepared)
        head.fields.append(name: "X", value: "a\nb")
        #expect(head.prepared == nil)
        #expect(throws: WireError.invalidRequestFieldValue(name: "X")) { try Self.encode(head) }
    }
}

@Suite struct `A checked host` {
    private static func encode(_ origin: HTTP.Origin, _ method: HTTP.Method, _ target: String, _ fields: Fields) throws
    {
        var buffer: [UInt8] = []
        let head = RequestHead(method: method, origin: origin, target: target, fields: fields)
        try RequestEncoder.encode(head, framing: .none, into: &buffer)
    }

    @Test func `a checked host is the one a URL was parsed into, with a socket or without`() throws {
        let checked = HTTP.Origin(scheme: .http, checkedHost: "h.example", port: 8080)
        #expect(checked == HTTP.Origin(scheme: .http, host: "h.example", port: 8080))
        #expect(checked.isHostChecked)
        let routed = checked.over(HTTP.Route(address: .unix("/run/s")))
        #expect(routed.isHostChecked)
        #expect(routed == HTTP.Origin(scheme: .http, host: "h.example", port: 8080, socketPath: "/run/s"))
        #expect(!HTTP.Origin(scheme: .http, host: "h.example").isHostChecked)
        #expect(throws: WireError.invalidHost) {
            try Self.encode(HTTP.Origin(scheme: .http, host: "h example"), .get, "/", [:])
        }
    }

    static let others: [(HTTP.Method, String, Fields, WireError)] = [
        (.get, "/", ["Host": "a b"], .invalidHost), (.connect, "a b:1", [:], .invalidTarget),
        (.connect, "h.example", [:], .targetUnfitForMethod),
    ]

    @Test(arguments: others)
    func `a checked host spares neither a Host field nor a CONNECT target its check`(
        method: HTTP.Method, target: String, fields: Fields, error: WireError
    ) {
        let origin = HTTP.Origin(scheme: .http, checkedHost: "h.example", port: nil)
        #expect(throws: error) { try Self.encode(origin, method, target, fields) }
    }
}
