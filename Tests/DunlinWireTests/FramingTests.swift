import DunlinTypes
import DunlinWire
import LedgerRows
import Testing

@Suite struct Framing {
    private static func framing(
        _ status: String, _ lines: String, _ method: HTTP.Method
    ) throws -> MessageFraming {
        let version = status.hasPrefix("HTTP/") ? status : "HTTP/1.1 \(status)"
        var parser = HeadParser()
        parser.feed(Array("\(version) X\r\n\(lines)\(lines.isEmpty ? "" : "\r\n")\r\n".utf8))
        return try #require(try parser.next()).framing(for: method)
    }

    static let accepted: [(String, String, HTTP.Method, BodyFraming, Bool)] = [
        ("200", "Content-Length: 5", .get, .length(5), true),
        ("200", "content-LENGTH: 0", .get, .length(0), true),
        ("200", "Content-Length: 9223372036854775807", .get, .length(.max), true),
        ("200", "Content-Length: 0005", .get, .length(5), true),
        ("200", "Content-Length: 5\r\nContent-Length: 5", .get, .length(5), true),
        ("200", "Content-Length: 5, 5\r\nContent-Length: 05", .get, .length(5), true),
        ("200", "", .get, .untilClose, false),
        ("200", "Transfer-Encoding: chunked", .get, .chunked, true),
        ("200", "transfer-encoding: , CHUNKED ,", .get, .chunked, true),
        ("200", "Transfer-Encoding:\r\nTransfer-Encoding: chunked", .get, .chunked, true),
        ("200", "Transfer-Encoding: chunked\r\nContent-Length: 5", .get, .chunked, false),
        ("200", "Content-Length: x\r\nTransfer-Encoding: chunked", .get, .chunked, false),
        // No body whatever the fields say.
        ("200", "Content-Length: 5", .head, .none, true),
        ("200", "Transfer-Encoding: chunked", .head, .none, true),
        ("200", "", .head, .none, true),
        ("200", "Content-Length: 5, 6", .head, .none, false),
        ("200", "Transfer-Encoding: gzip", .head, .none, false),
        ("200", "Transfer-Encoding: chunked\r\nContent-Length: 5", .head, .none, false),
        ("304", "Content-Length: 5", .get, .none, true),
        ("304", "Content-Length: -5", .get, .none, false),
        ("204", "", .get, .none, true),
        ("204", "Content-Length: 0", .get, .none, true),
        ("204", "Content-Length: 5", .get, .none, false),
        ("204", "Transfer-Encoding: chunked", .get, .none, false),
        ("100", "", .post, .none, true),
        ("103", "Content-Length: 5", .get, .none, false),
        ("205", "Content-Length: 0", .post, .length(0), true),
        ("205", "Transfer-Encoding: chunked", .post, .chunked, true),
        ("205", "", .post, .none, false),
        // Not HTTP any more.
        ("101", "Content-Length: 5", .get, .upgrade, false),
        ("200", "Content-Length: 5", .connect, .upgrade, false),
        ("299", "Transfer-Encoding: chunked", .connect, .upgrade, false),
        ("407", "Content-Length: 5", .connect, .length(5), true),
        ("200", "Content-Length: 5", "connect", .length(5), true),
        ("200", "Content-Length: 5", "head", .length(5), true),
        // Whether another request may follow.
        ("200", "Content-Length: 5\r\nConnection: close", .get, .length(5), false),
        ("200", "Content-Length: 5\r\nConnection: CLOSE", .get, .length(5), false),
        ("200", "Content-Length: 5\r\nConnection: foo,, close ,bar", .get, .length(5), false),
        ("200", "Content-Length: 5\r\nConnection: keep-alive\r\nConnection: close", .get, .length(5), false),
        ("200", "Content-Length: 5\r\nConnection: close, keep-alive", .get, .length(5), false),
        ("200", "Content-Length: 5\r\nConnection: closed", .get, .length(5), true),
        ("200", "Content-Length: 5\r\nConnection: \"close\"", .get, .length(5), false),
        ("200", "Content-Length: 5\r\nConnection: close please", .get, .length(5), false),
        ("204", "Connection: close", .get, .none, false),
        ("HTTP/1.0 200", "Content-Length: 5", .get, .length(5), false),
        ("HTTP/1.0 200", "Content-Length: 5\r\nConnection: Keep-Alive", .get, .length(5), true),
        ("HTTP/1.0 200", "Content-Length: 5\r\nConnection: keep-alive, close", .get, .length(5), false),
        ("HTTP/1.0 200", "Connection: keep-alive", .get, .untilClose, false),
        ("HTTP/1.0 304", "Connection: keep-alive\r\nTransfer-Encoding: chunked", .get, .none, false),
    ]

    @Test(
        .rules(
            "9110-5.6.1-2", "9110-6.4.1-1", "9110-6.4.1-2", "9110-7.6.1-3", "9110-8.6-5", "9110-9.3.6-2", "9110-15.2-2",
            "9110-15.3.5-1", "9110-15.3.6-1", "9110-15.4.5-1", "9112-6-2", "9112-6.1-9", "9112-6.3-1", "9112-6.3-2",
            "9112-6.3-6", "9112-6.3-8", "9112-9.3-1", "9112-9.3-2"), arguments: accepted)
    func `framing follows status, fields and method`(
        status: String, lines: String, method: HTTP.Method, body: BodyFraming, canReuse: Bool
    ) throws {
        #expect(try Self.framing(status, lines, method) == MessageFraming(body: body, canReuse: canReuse))
    }

    static let refused: [(String, String, WireError)] = [
        ("200", "Content-Length:", .invalidContentLength),
        ("200", "Content-Length: +5", .invalidContentLength),
        ("200", "Content-Length: -5", .invalidContentLength),
        ("200", "Content-Length: 5 5", .invalidContentLength),
        ("200", "Content-Length: 0x5", .invalidContentLength),
        ("200", "Content-Length: 5.0", .invalidContentLength),
        ("200", "Content-Length: 5,", .invalidContentLength),
        ("200", "Content-Length: ,5", .invalidContentLength),
        ("200", "Content-Length: 9223372036854775808", .invalidContentLength),
        ("200", "Content-Length: 99999999999999999999999999", .invalidContentLength),
        ("200", "Content-Length: 5\r\nContent-Length: x\r\nContent-Length: 5", .invalidContentLength),
        ("200", "Content-Length: x\r\nContent-Length: 5", .invalidContentLength),
        ("200", "Content-Length: 5, 6", .conflictingContentLengths),
        ("200", "Content-Length: 5\r\nContent-Length: 6\r\nContent-Length: 5", .conflictingContentLengths),
        ("200", "Transfer-Encoding:", .emptyTransferEncoding),
        ("200", "Transfer-Encoding: , ,", .emptyTransferEncoding),
        ("200", "Transfer-Encoding: gzip, chunked", .unknownTransferCoding),
        ("200", "Transfer-Encoding: identity", .unknownTransferCoding),
        ("200", "Transfer-Encoding: chunked;q=1", .unknownTransferCoding),
        ("200", "Transfer-Encoding: xchunked", .unknownTransferCoding),
        ("200", "Transfer-Encoding: \"chunked\"", .unknownTransferCoding),
        ("200", "Transfer-Encoding: gzip\r\nContent-Length: 5", .unknownTransferCoding),
        ("200", "Transfer-Encoding: chunked, gzip", .chunkedCodingNotLast),
        ("200", "Transfer-Encoding: chunked\r\nTransfer-Encoding: identity", .chunkedCodingNotLast),
        ("200", "Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked", .repeatedChunkedCoding),
        ("HTTP/1.0 200", "Transfer-Encoding: chunked", .transferEncodingInHTTP10),
        ("HTTP/1.0 200", "Transfer-Encoding: chunked\r\nContent-Length: 5", .transferEncodingInHTTP10),
    ]

    @Test(
        .rules("9110-8.6-4", "9110-8.6-5", "9112-6.1-7", "9112-6.1-8", "9112-6.3-4", "9112-6.3-5", "9112-11-2"),
        arguments: refused)
    func `framing that is in doubt is refused`(status: String, lines: String, expected: WireError) {
        #expect(throws: expected) { try Self.framing(status, lines, .get) }
    }

    @Test(arguments: [
        ("timeout=5", 5), ("timeout=5, max=100", 5), ("max=100 , Timeout=75", 75), ("timeout=0", 0), ("timeout=", nil),
        ("timeout=x", nil), ("timeout=-1", nil), ("timeouts=5", nil), ("max=5", nil), ("", nil),
        ("timeout=99999999999999999999", nil),
    ])
    func `framing carries the server's keep-alive hint`(value: String, expected: Int?) throws {
        let framing = try Self.framing("200", "Content-Length: 5\r\nKeep-Alive: \(value)", .get)
        #expect(framing == MessageFraming(body: .length(5), canReuse: true, keepAliveTimeout: expected))
    }
}
