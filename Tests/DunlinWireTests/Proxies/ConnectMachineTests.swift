import DunlinTypes
import DunlinWire
import LedgerRows
import Testing

@Suite struct `CONNECT machine` {
    /// What comes of bytes that a proxy sends, cut as given, up to the first action that is not `readOn`.
    private struct Play {
        var action: ConnectMachine.Action?
        var error: WireError?
        /// What followed the last head.
        var rest = ""

        init(_ pieces: [[UInt8]], _ machine: inout ConnectMachine) {
            var parser = HeadParser()
            var unread = pieces[...]
            do throws(WireError) {
                while true {
                    guard let parsed = try parser.next() else {
                        guard let piece = unread.popFirst() else { try parser.endOfStream() }
                        parser.feed(piece)
                        continue
                    }
                    if parsed.isInterim {
                        action = machine.receive(parsed, following: 0)
                    } else {
                        let following = parser.takeRest()
                        action = machine.receive(parsed, following: following.count)
                        rest = String(following) + String(decoding: unread.joined(), as: UTF8.self)
                    }
                    guard action == .readOn else { return }
                }
            } catch {
                self.error = error
            }
        }
    }

    private static func answer(
        _ length: Int?, reuse: Bool = true
    ) -> MessageFraming {
        MessageFraming(body: length.map { .length($0) } ?? .untilClose, canReuse: reuse)
    }

    static let answers: [(String, ConnectMachine.Action, rest: String)] = [
        ("HTTP/1.1 200 Connection established\r\n\r\n", .tunnel, ""),
        ("HTTP/1.0 200 OK\r\nConnection: close\r\n\r\n", .tunnel, ""),
        ("HTTP/1.1 200\r\n\r\n\u{16}\u{3}\u{1}", .tunnel, "\u{16}\u{3}\u{1}"),
        // RFC 9110 §9.3.6: these fields mean nothing in a 2xx.
        ("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello", .tunnel, "hello"),
        ("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", .tunnel, "0\r\n\r\n"),
        ("HTTP/1.1 200 OK\r\nContent-Length: 5, 6\r\nTransfer-Encoding: x\r\n\r\n", .tunnel, ""),
        ("HTTP/1.1 201 Created\r\n\r\n", .tunnel, ""), ("HTTP/1.1 204 No Content\r\n\r\n", .tunnel, ""),
        ("HTTP/1.1 299 So so\r\n\r\n", .tunnel, ""),
        (
            "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\nHTTP/1.1 200 OK\r\n\r\n",
            .tunnel, ""
        ),
        ("HTTP/1.1 101 Switching\r\nUpgrade: x\r\n\r\nabc", .fail(.switchedProtocols), "abc"),
        (
            "HTTP/1.1 407 Who\r\nProxy-Authenticate: Basic realm=r\r\nContent-Length: 3\r\n\r\nwho",
            .answer(answer(3)), "who"
        ),
        ("HTTP/1.1 407 Who\r\nContent-Length: 0\r\nConnection: close\r\n\r\n", .answer(answer(0, reuse: false)), ""),
        ("HTTP/1.0 407 Who\r\nContent-Length: 3\r\n\r\nwho", .answer(answer(3, reuse: false)), "who"),
        ("HTTP/1.1 407 Who\r\n\r\nwho?", .answer(answer(nil, reuse: false)), "who?"),
        (
            "HTTP/1.1 407 Who\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
            .answer(MessageFraming(body: .chunked, canReuse: true)), "0\r\n\r\n"
        ),
        ("HTTP/1.1 403 No\r\nContent-Length: 2\r\n\r\nno", .refuse(.forbidden, answer(2)), "no"),
        ("HTTP/1.1 502 Bad\r\n\r\n<html>", .refuse(.badGateway, answer(nil, reuse: false)), "<html>"),
        (
            "HTTP/1.1 302 Found\r\nLocation: https://evil.test/\r\nContent-Length: 0\r\n\r\n",
            .refuse(.found, answer(0)), ""
        ),
        (
            "HTTP/1.1 401 Who\r\nWWW-Authenticate: Basic\r\nContent-Length: 0\r\n\r\n",
            .refuse(.unauthorized, answer(0)), ""
        ),
        (
            "HTTP/1.1 304 Not\r\n\r\n", .refuse(.notModified, MessageFraming(body: .none, canReuse: true)), ""
        ),
        (
            "HTTP/1.1 407 Who\r\nContent-Length: 3, 4\r\n\r\nwho", .fail(.malformed(407, .conflictingContentLengths)),
            "who"
        ),
        ("HTTP/1.1 500 No\r\nTransfer-Encoding: gzip\r\n\r\n", .fail(.malformed(500, .unknownTransferCoding)), ""),
    ]

    @Test(.rules("9110-9.3.6-2", "9110-9.3.6-3", "9112-6.3-2"), arguments: answers)
    func `an answer to CONNECT opens the tunnel, asks, or refuses`(
        text: String, expected: ConnectMachine.Action, rest: String
    ) {
        for pieces in cuts(of: text) {
            var machine = ConnectMachine(isTLSInside: true)
            let play = Play(pieces, &machine)
            #expect(play.action == expected)
            #expect(play.error == nil)
            #expect(play.rest == rest)
        }
    }

    static let broken: [(String, WireError)] = [
        ("", .receivedNothing), ("HTTP/1.1 200 OK\r\n", .truncatedHead), ("\u{5}\u{0}", .invalidStatusLine),
        ("SSH-2.0-OpenSSH\r\n", .invalidStatusLine), ("HTTP/2 200\r\n\r\n", .unsupportedVersion),
        ("HTTP/1.1 200 OK\n\n", .bareLineFeed), ("\u{16}\u{3}\u{1}\u{0}\u{5}", .invalidStatusLine),
    ]

    @Test(arguments: broken)
    func `an answer to CONNECT that is no head never opens a tunnel`(text: String, error: WireError) {
        for pieces in cuts(of: text) {
            var machine = ConnectMachine(isTLSInside: true)
            let play = Play(pieces, &machine)
            #expect(play.action == nil)
            // A stray byte at a time is truncated before it is refused, or refused at once: never a head.
            #expect(play.error != nil)
        }
        var machine = ConnectMachine(isTLSInside: true)
        #expect(Play([Array(text.utf8)], &machine).error == error)
    }

    @Test func `in clear text nothing may come before a request was sent`() {
        for (text, action) in [
            ("HTTP/1.1 200 OK\r\n\r\nHTTP/1.1 200 OK\r\n\r\n", ConnectMachine.Action.fail(.unaskedBytes)),
            ("HTTP/1.1 200 OK\r\n\r\n", .tunnel),
        ] {
            var machine = ConnectMachine(isTLSInside: false)
            #expect(Play([Array(text.utf8)], &machine).action == action)
        }
    }

    @Test func `a proxy that asks again and again is refused in the end`() {
        var machine = ConnectMachine(isTLSInside: true)
        let text = Array("HTTP/1.1 407 Who\r\nContent-Length: 0\r\n\r\n".utf8)
        for _ in 0..<5 { #expect(Play([text], &machine).action == .answer(Self.answer(0))) }
        #expect(Play([text], &machine).action == .refuse(.proxyAuthenticationRequired, Self.answer(0)))
    }

    @Test func `interim heads without end are an error`() throws {
        var machine = ConnectMachine(isTLSInside: true)
        var actions: [ConnectMachine.Action] = []
        for _ in 0..<17 {
            var parser = HeadParser()
            parser.feed(Array("HTTP/1.1 100 Continue\r\n\r\n".utf8))
            actions.append(machine.receive(try #require(try parser.next()), following: 0))
        }
        #expect(actions.dropLast().allSatisfy { $0 == .readOn })
        #expect(actions.last == .fail(.tooManyInterimResponses))
    }
}
