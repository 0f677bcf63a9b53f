import DunlinSemantics
import DunlinTypes
import LedgerRows
import Testing

@Suite struct `Redirect rules` {
    private static let following: [HTTP.Status] = [301, 302, 303, 307, 308]

    @Test(.rules("9110-15.4.6-1")) func `redirect rules know which statuses lead elsewhere`() {
        let found = (100..<600).map { HTTP.Status($0) }.filter(RedirectRules.isRedirect)
        #expect(found == Self.following)
    }

    /// Status, method: the next method, and whether the body goes along.
    static let changes: [(HTTP.Status, HTTP.Method, HTTP.Method, Bool)] = following.flatMap { status in
        [.get, .head, .post, .put, .patch, .delete, .options, .trace, .query, "post", "REPORT"].map {
            (method: HTTP.Method) -> (HTTP.Status, HTTP.Method, HTTP.Method, Bool) in
            switch (status, method) {
            case (301, .post), (302, .post): (status, method, .get, false)
            case (303, .head): (status, method, .head, false)
            case (303, _): (status, method, .get, false)
            default: (status, method, method, true)
            }
        }
    }

    @Test(.rules("9110-15.4.2-1", "9110-15.4.4-1", "9110-15.4.8-1"), arguments: changes)
    func `redirect rules say with which method and body to ask next`(
        status: HTTP.Status, method: HTTP.Method, next: HTTP.Method, keepsBody: Bool
    ) {
        let change = RedirectRules.next(after: status, method)
        #expect(change.method == next)
        #expect(change.keepsBody == keepsBody)
    }

    static let destinations: [(String, String, String?)] = [
        ("http://a/b/c?d#e", "x", "http://a/b/x#e"), ("http://a/b/c?d#e", "/x", "http://a/x#e"),
        ("http://a/b/c?d#e", "?x", "http://a/b/c?x#e"), ("http://a/b/c?d#e", "", "http://a/b/c?d#e"),
        ("http://a/b/c?d#e", "#f", "http://a/b/c?d#f"), ("http://a/b/c#e", "x#", "http://a/b/x#"),
        ("http://a/b/c#e", "http://b/#", "http://b/#"), ("http://a/b/c#e", "http://b", "http://b/#e"),
        ("https://a/b", "//c:8443/d", "https://c:8443/d"), ("https://a/b", "http://a/b", "http://a/b"),
        ("http://a/b/c/d", "../../x", "http://a/x"), ("http://a/b", "../../../x", "http://a/x"),
        ("http://a/", "http://u:p@b/x", "http://b/x"), ("http://a/", "//u@a/x", "http://a/x"),
        ("http://a/", "http://B.Example:80/", "http://b.example/"), ("http://a/", "mailto:x@y", nil),
        ("http://a/", "javascript:alert(1)", nil), ("http://a/", "file:///etc/passwd", nil),
        ("http://a/", "http:///x", nil), ("http://a/", "http://a:0/", nil), ("http://a/", "//a b/", nil),
    ]

    @Test(.rules("9110-10.2.2-1", "9110-10.2.2-2"), arguments: destinations)
    func `redirect rules say where a reference leads`(from: String, reference: String, expected: String?) throws {
        let address = try WebAddress(from)
        guard let expected else {
            #expect(throws: AddressError.self) { try RedirectRules.destination(of: reference, from: address) }
            return
        }
        let destination = try RedirectRules.destination(of: reference, from: address)
        #expect(destination.description == expected)
        #expect(destination.userInfo == nil)
    }

    @Test func `a redirect to another origin does not take the route of the old one`() throws {
        let origin = HTTP.Origin(scheme: .http, host: "a", socketPath: "/s")
        let address = WebAddress(origin: origin, target: "/b")
        #expect(try RedirectRules.destination(of: "c", from: address).origin.route == nil)
    }

    @Test(.rules("9110-15.4-5")) func `a redirect without a body drops the fields that describe one`() {
        let fields: Fields = [
            "Content-Type": "a/b", "content-length": "3", "Content-Encoding": "gzip", "CONTENT-MD5": "x",
            "Transfer-Encoding": "chunked", "Expect": "100-continue", "Trailer": "X", "Digest": "d",
            "Repr-Digest": "d", "Last-Modified": "l", "Accept": "*/*", "X-Content": "1", "Authorization": "A",
        ]
        #expect(RedirectRules.withoutBody(fields) == ["Accept": "*/*", "X-Content": "1", "Authorization": "A"])
    }

    static let origins: [(String, String, isSame: Bool)] = [
        ("http://a/", "http://a/", true), ("http://a/", "http://a:80/", true), ("https://a/", "https://a:443/", true),
        ("http://A/", "http://a/x", true), ("http://[::1]/", "http://[0:0::1]/", true),
        ("http://a/", "https://a/", false), ("https://a/", "http://a/", false), ("http://a/", "http://a:81/", false),
        ("http://a/", "http://b/", false), ("http://a/", "http://x.a/", false), ("http://x.a/", "http://a/", false),
        ("http://a/", "http://a./", false), ("http://127.0.0.1/", "http://localhost/", false),
    ]

    @Test(.rules("9110-4.2.3-1", "9110-10.1.3-2", "9110-15.4-4"), arguments: origins)
    func `a redirect to another origin drops the secrets`(from: String, to: String, isSame: Bool) throws {
        var fields: Fields = [
            "Accept": "*/*", "authorization": "A", "COOKIE": "c", "Proxy-Authorization": "P", "X-Own": "o",
            "Host": "h", "Referer": "r", "x-api-key": "k", "API-Key": "k", "X-Auth-Token": "t",
            "X-Amz-Security-Token": "t", "Set-Cookie": "c", "Origin": "https://a", "Idempotency-Key": "i",
            "Last-Event-ID": "7", "X-Plex-Token": "t", "X-OTP": "1", "My-Session": "s",
        ]
        fields.append(name: "X-Marked", value: "m", sensitive: true)
        let (old, new) = (try WebAddress(from).origin, try WebAddress(to).origin)
        let allowed = RedirectRules.allowed(fields, from: old, to: new, secret: ["x-OWN"])
        if isSame {
            #expect(allowed == fields)
        } else {
            let isDowngrade = from.hasPrefix("https:") && to.hasPrefix("http:")
            var expected: Fields = ["Accept": "*/*", "Referer": "r", "Idempotency-Key": "i"]
            if isDowngrade { expected.remove("referer") }
            #expect(allowed == expected)
            #expect(RedirectRules.isDowngrade(from: old, to: new) == isDowngrade)
            // Not in memory either, should anybody look at it.
            #expect(!allowed.bytes.contains(UInt8(ascii: "P")))
        }
    }

    @Test func `redirect rules compare scheme, host and port, and not the route`() {
        let plain = HTTP.Origin(scheme: .http, host: "a")
        let routed = HTTP.Origin(scheme: .http, host: "a", socketPath: "/s")
        #expect(plain != routed)
        #expect(plain.isSame(as: routed))
    }
}
