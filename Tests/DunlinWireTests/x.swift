import DunlinTypes
import DunlinWire
import Testing

@Test func smoke() throws {
    var parser = HeadParser()
    parser.feed(Array("HTTP/1.1 200 OK\r\nContent-Length: 5\r\nX-A:  b \r\n\r\nhello".utf8))
    let head = try #require(try parser.next())
    #expect(head.head.fields["x-a"] == "b")
    #expect(String(head.head.reason) == "OK")
    #expect(try head.framing(for: .get) == MessageFraming(body: .length(5), canReuse: true))
    #expect(String(parser.takeRest()) == "hello")
    var buffer: [UInt8] = []
    try RequestEncoder.encode(
        RequestHead(
            method: .post, origin: Origin(scheme: .http, host: "h"), target: "/a",
            fields: ["Accept": "*/*", "Content-Length": "0"]),
        framing: .none, into: &buffer)
    #expect(String(Bytes(buffer)) == "POST /a HTTP/1.1\r\nHost: h\r\nAccept: */*\r\nContent-Length: 0\r\n\r\n")
}
