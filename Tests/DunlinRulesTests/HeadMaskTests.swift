import DunlinTypes
import Testing

@testable import DunlinRules

@Suite struct `Secrets in the bytes of a trace` {
    private static let request = """
        GET http://a.test/x?token=hunter2&b=1 HTTP/1.1\r
        Host: a.test\r
        Proxy-Authorization: Basic hunter2\r
        x-tenant:hunter2\r
        Referer: /y?a=1\r
        Location: /y?token=hunter2\r
        \r
        password=shown
        """
    private static let response = """
        HTTP/1.1 103 Early Hints\r
        Link: </a.css>\r
        \r
        HTTP/1.1 200 OK\r
        Set-Cookie: id=hunter2;\r
         Path=/hunter2\r
        X-A: 1\r
        \r
        Set-Cookie: shown
        """

    private static func masked(_ text: String, inPieces size: Int, marked: Fields = [:]) -> String {
        var mask = HeadMask(["X-Tenant"], marked: marked)
        let bytes = Array(text.utf8)
        var shown: [UInt8] = []
        for start in stride(from: 0, to: bytes.count, by: size) {
            let piece = Bytes(Array(bytes[start..<min(start + size, bytes.count)]))
            shown += mask.masked(piece, of: piece.count).array
        }
        #expect(shown.count == bytes.count)
        return String(decoding: shown, as: UTF8.self)
    }

    @Test func `an asterisk stands for each byte of a secret, and all else is as it was sent`() {
        let shown = Self.masked(Self.request, inPieces: .max)
        #expect(
            shown == """
                GET http://a.test/x?**************************\r
                Host: a.test\r
                Proxy-Authorization: *************\r
                x-tenant:*******\r
                Referer: /y?a=1\r
                Location: ****************\r
                \r
                password=shown
                """)
    }

    @Test func `the heads of a response are masked up to the last one's end, lines that go on too`() {
        let shown = Self.masked(Self.response, inPieces: .max)
        #expect(!shown.contains("hunter2") && shown.contains("Link: </a.css>") && shown.contains("X-A: 1"))
        #expect(shown.hasSuffix("\r\n\r\nSet-Cookie: shown"))
    }

    @Test(arguments: [1, 7, 1000]) func `what follows a 101 is no head, and is shown`(size: Int) {
        let head = "HTTP/1.1 101 Switching Protocols\r\nConnection: upgrade\r\nUpgrade: foo\r\n\r\n"
        let text = "\(head)GET /?token=shown\r\nSet-Cookie: shown\r\n\r\n"
        #expect(Self.masked(text, inPieces: size) == text)
    }

    @Test func `the value of a field that was marked as sensitive is hidden, whatever its name is`() {
        var marked: Fields = ["X-Plain": "p"]
        marked.append(name: "X-Own", value: "hunter2", sensitive: true)
        let text = "GET / HTTP/1.1\r\nX-Plain: p\r\nx-own: hunter2\r\n\r\n"
        for size in 1...text.utf8.count {
            let shown = Self.masked(text, inPieces: size, marked: marked)
            #expect(shown == text.replacing("hunter2", with: "*******"))
        }
    }

    @Test(arguments: [
        ("/a?next=%2Fcb%3Ftoken%3Dhunter2", "/a?"), ("/go/b%3Fpin%3Dhunter2/c?b=1", "/go/"),
        ("/a%2Fb?b=%20", "/a%2Fb?b=%20 HTTP/1.1"),
    ])
    func `a secret that is encoded in the target hides the rest of the line`(target: String, shown: String) {
        let line = "GET \(target) HTTP/1.1"
        let masked = Self.masked(line + "\r\nHost: a\r\n\r\n", inPieces: .max)
        let stars = String(repeating: "*", count: line.count - 4 - shown.count)
        #expect(masked == "GET \(shown)\(stars)\r\nHost: a\r\n\r\n")
    }

    @Test(arguments: [request, response], 1...40) func `no cut shows a secret`(text: String, size: Int) {
        let shown = Self.masked(text, inPieces: size)
        // A value that is no secret by its name is one only when its first bytes have said so.
        let rest = shown.replacing("hunter2", with: "")
        #expect(shown.hasSuffix("shown") && rest.count == shown.count, "\(shown)")
    }

    @Test(arguments: [
        "GET http://ada:hunter2@a.test/x?b=1 HTTP/1.1", "GET /x?to=http://ada:hunter2@a.test/x HTTP/1.1",
        "GET /x?to=http%3A%2F%2Fada%3Ahunter2%40a.test HTTP/1.1", "X-A: 1\r\nReferer: http://ada:hunter2@a.test/x",
        "X-A: 1\r\nX-Seen: at http://ada:hunter2/x@a.test/x, b", "X-A: 1\r\n http://ada:hunter2@a.test/x",
    ])
    func `no cut shows a user and a password whose end has not come`(lines: String) {
        let isRequest = lines.hasPrefix("GET")
        let text = (isRequest ? "" : "HTTP/1.1 200 OK\r\n") + lines + "\r\n\r\nshown"
        for size in 1...text.utf8.count {
            let shown = Self.masked(text, inPieces: size)
            #expect(!shown.contains("hun") && shown.hasSuffix("shown"), "\(size): \(shown)")
            var mask = HeadMask(.usual)
            let bytes = Bytes(Array(text.utf8.prefix(size)))
            let cut = mask.masked(bytes, of: text.utf8.count)
            #expect(!String(decoding: cut, as: UTF8.self).contains("hun"), "\(size)")
        }
    }

    @Test func `a server's host is shown once it has come to its end, wherever the bytes are cut`() {
        let text = "GET http://a.test:80/x?b=1 HTTP/1.1\r\nReferer: http://a.test/x\r\nX-A: http://a.test/x"
        var mask = HeadMask(.usual)
        #expect(mask.masked(Bytes(Array(text.utf8)), of: 1_000) == Bytes(Array(text.utf8)))
    }

    /// The names that may stand before a secret, and what is not one.
    @Test(arguments: [
        "X: y\rSet-Cookie: hunter2", "X: y\r\n Set-Cookie: hunter2", "X: y\r\n\tX-Tenant: hunter2",
        "Set-Cookie : hunter2", "\u{b}X-Tenant: hunter2", "X-Tenant\0: hunter2", "X Tenant: hunter2", ": hunter2",
        "Set-Cookie:\r\n hunter2", "X: y\r\r\nX-Tenant: hunter2",
    ])
    func `a line that is no field shows no secret`(lines: String) {
        let text = "HTTP/1.1 200 OK\r\nX-A: 1\r\n\(lines)\r\nX-B: 2\r\n\r\nshown"
        for size in 1...text.utf8.count {
            let shown = Self.masked(text, inPieces: size)
            #expect(!shown.contains("hunter2"), "\(size): \(shown)")
            #expect(shown.contains("X-A: 1\r\n") && shown.hasSuffix("X-B: 2\r\n\r\nshown"), "\(size): \(shown)")
        }
    }

    @Test(arguments: [
        "Set-Cookie: hunter2\r\nX-B: 2", "\r\n\r\nX-Tenant:hunter2\r\nX-B: 2", " Set-Cookie: hunter2\r\nX-B: 2",
        "HTTP/1.1 200 OK\rSet-Cookie: hunter2\r\nX-B: 2",
        "HTTP/1.1  103 Hints\r\n\r\nHTTP/1.1 200 OK\r\nSet-Cookie: hunter2\r\nX-B: 2",
        "HTTP/1.1 103 Hints\r\n\r\nSet-Cookie: hunter2\r\nX-B: 2",
    ])
    func `a head whose first line is none shows no secret`(head: String) {
        for size in 1...head.utf8.count {
            let shown = Self.masked(head + "\r\n\r\nshown", inPieces: size)
            #expect(!shown.contains("hunter2"), "\(size): \(shown)")
            #expect(shown.hasSuffix("X-B: 2\r\n\r\nshown"), "\(size): \(shown)")
        }
    }

    private static let chunked = """
        HTTP/1.1 200 OK\r
        Transfer-Encoding: gzip, Chunked\r
        \r
        1C;a=b\r
        token: shown\r
        0\r
        X-Tenant: x\r
        5  \r
        \r
        \r
        \r
        0\r
        Set-Cookie: id=hunter2\r
        X-Tenant: hunter2\r
        X-B: 2\r
        \r

        """

    @Test func `the trailers of a chunked body are masked, and its chunks are shown`() {
        let whole = Self.chunked.replacing("id=hunter2", with: "**********").replacing("hunter2", with: "*******")
        for size in 1...Self.chunked.utf8.count {
            #expect(Self.masked(Self.chunked, inPieces: size) == whole, "\(size)")
        }
    }

    @Test func `what follows a gap in a chunked body is hidden, unless the gap ends in a chunk or with one`() {
        let head: Bytes = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n6\r\nab"
        for (missing, isKnown) in [(1, true), (4, true), (6, true), (3, true), (5, false), (7, false)] {
            var mask = HeadMask(.usual)
            #expect(mask.masked(head, of: head.count + missing) == head)
            mask.headEnded(["Transfer-Encoding": "chunked"])
            let rest = Array("cdef\r\n3\r\nxyz\r\n0\r\nX-Token: hunter2\r\n\r\n".utf8).dropFirst(missing)
            let shown = String(decoding: mask.masked(Bytes(Array(rest)), of: rest.count).array, as: UTF8.self)
            #expect(!shown.contains("hunter2") && shown.contains("xyz") == isKnown, "\(missing): \(shown)")
        }
        var mask = HeadMask(.usual)
        _ = mask.masked("HTTP/1.1 200 OK\r\n", of: 100)
        mask.headEnded(["transfer-encoding": "chunked"])
        #expect(mask.masked("X-Token: hunter2\r\n", of: 18) == "****************\r\n")
    }

    @Test func `what follows a gap in a head is hidden until the head is over`() {
        var mask = HeadMask(.usual)
        let first: Bytes = "HTTP/1.1 200 OK\r\nSet-Co"
        #expect(mask.masked(first, of: 100) == first)
        #expect(mask.masked("kie: hunter2\r\n", of: 14) == "************\r\n")
        mask.headEnded()
        #expect(mask.masked("Cookie: body", of: 12) == "Cookie: body")
    }
}
