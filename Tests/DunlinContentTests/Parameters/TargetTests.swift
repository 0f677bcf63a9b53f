import Dunlin
import FoundationEssentials
import LedgerRows
import Testing

@testable import DunlinContent
@testable import DunlinSession

@Suite struct `Targets` {
    private struct Named: CustomStringConvertible {
        var description: String { "a b" }
    }

    static let name = "x/../y?z#ü%"

    static let interpolated: [(HTTP.Target, String, String)] = [
        ("users", "users", "users"),
        ("users/\(42)", "users/42", "users/{}"),
        ("users/\(name)/posts/\(7)", "users/x%2F..%2Fy%3Fz%23%C3%BC%25/posts/7", "users/{}/posts/{}"),
        ("\("a-b._~Z9")", "a-b._~Z9", "{}"),
        ("\(Named())", "a%20b", "{}"),
        ("\("\r\n\0")", "%0D%0A%00", "{}"),
        ("\("%2e%2e")", "%252e%252e", "{}"),
        ("\("😀")", "%F0%9F%98%80", "{}"),
        ("a/\(encoded: "b/c?d=%20")/e", "a/b/c?d=%20/e", "a/{}/e"),
        ("\("...")", "...", "{}"),
        ("report\("").pdf", "report.pdf", "report{}.pdf"),
        ("a\(".")b", "a.b", "a{}b"),
        ("a\("..")/b", "a../b", "a{}/b"),
        ("\("")\(1)/\(2)\("")", "1/2", "{}{}/{}{}"),
        ("\(".")htaccess", ".htaccess", "{}htaccess"),
        ("x/\("..")\(".")/y", "x/.../y", "x/{}{}/y"),
        ("\("a");v=\("")", "a;v=", "{};v={}"),
        ("x\(encoded: "/")\("y")", "x/y", "x{}{}"),
        ("http://\("api").test:\(80)/\("a")\("")", "http://api.test:80/a", "http://{}.test:{}/{}{}"),
    ]

    @Test(arguments: interpolated)
    func `an interpolated value is escaped in a target and left out of its template`(
        target: HTTP.Target, text: String, template: String
    ) {
        #expect(target.text == text)
        #expect(target.template == template)
        #expect(target.problem == nil)
    }

    static let refused: [(HTTP.Target, String)] = [
        ("users/\("..")", ".."), ("users/\(".")/x", "."), ("users/\("")/x", ""), ("\("ok")/\("..")/\(".")", ".."),
        (".\(".")/x", ".."), ("x/\("")\("")/y", ""), ("x/\(".")\(".")", ".."), ("\("")./x", "."),
        ("\(".")\("")?x", "."), ("..\("")#x", ".."), ("/\("")/evil.test", ""), ("%2e\(".")/x", "%2e."),
        ("\("")%2E%2e", "%2E%2e"), ("\("..");a=1/x", "..;a=1"), ("x/\("");a=1", ";a=1"),
        ("\("")\(encoded: "../x")", ".."),
        ("a\(encoded: "/..")\("")", ".."), ("http://\("")/x", ""),
    ]

    @Test(arguments: refused)
    func `a segment with a value in it that would change the path is refused`(
        target: HTTP.Target, segment: String
    ) throws {
        #expect(target.problem?.contains("\"\(segment)\" is not allowed as a path segment") == true)
        let builder = try RequestBuilder(.init(baseURL: "http://example.com/v1"))
        let failure = #expect(throws: NetworkError.self) {
            try builder.head(.get, target)
        }
        #expect(failure?.code == .invalidRequest)
        #expect(failure?.requestMayHaveBeenSent == false)
    }

    @Test(arguments: ["http://\("").test/", "http://\("..")\("").test/", "http://\(""):80/"] as [HTTP.Target])
    func `a host that a value leaves without its name is refused`(target: HTTP.Target) throws {
        let builder = try RequestBuilder(.init(baseURL: nil))
        let failure = #expect(throws: NetworkError.self) {
            try builder.head(.get, target)
        }
        #expect(failure?.code == .invalidRequest)
    }

    @Test(.rows("LX-2")) func `a target that is made of a URL stays as it is`() {
        let target = HTTP.Target("http://h/a%20b?c=../..")
        #expect(target.text == "http://h/a%20b?c=../..")
        #expect(target.template == target.text)
        #expect(target.problem == nil)
    }
}

@Suite struct `Values in targets` {
    @Test func `a value within a query is escaped as one`() {
        let text = "a&b=c d/é?"
        let target: HTTP.Target = "search/\(text)?q=\(text)&page=\(2)&empty=\("")"
        #expect(target.text == "search/a%26b%3Dc%20d%2F%C3%A9%3F?q=a%26b%3Dc%20d/%C3%A9?&page=2&empty=")
        #expect(target.template == "search/{}?q={}&page={}&empty={}")
        #expect(target.problem == nil)
        let encoded: HTTP.Target = "\(encoded: "a?b=")\("..")"
        #expect(encoded.text == "a?b=.." && encoded.problem == nil)
    }

    @Test func `a template has names, in a literal and by itself`() {
        let id = "4/2"
        let literal: HTTP.Target = "users/\(id, name: "id")/posts/\(7, name: "post")"
        #expect(literal.text == "users/4%2F2/posts/7" && literal.template == "users/{id}/posts/{post}")
        let named = HTTP.Target(template: "users/{id}/posts/{post}", ["id": id, "post": 7])
        #expect(named == literal)
        #expect(HTTP.Target(template: "report{part}.pdf", ["part": ""]).problem == nil)
    }

    @Test func `bytes in a target are the text that they hold`() {
        let (bytes, data) = (Bytes("a/b"), Data("é".utf8))
        let target: HTTP.Target = "files/\(bytes)?of=\(data)"
        #expect(target.text == "files/a%2Fb?of=%C3%A9")
        #expect(HTTP.Target(template: "files/{id}?of={of}", ["id": bytes, "of": data]).text == target.text)
    }

    static let misfits: [(HTTP.Target, String)] = [
        (HTTP.Target(template: "users/{id}", [:]), "there is no value for {id}"),
        (HTTP.Target(template: "users", ["id": 1]), "there is a value for {id}"),
        (HTTP.Target(template: "users/{id}", ["id": ".."]), "\"..\" is not allowed as a path segment"),
        (HTTP.Target(template: "users/.{id}/x", ["id": "."]), "\"..\" is not allowed as a path segment"),
        ("\("https://api.test")/users", "the interpolated value is a URL"),
        ("users/\(Bytes([0xFF]))", "the interpolated bytes are not UTF-8"),
    ]

    @Test(arguments: misfits)
    func `a target whose values do not fit is refused when it is asked for`(target: HTTP.Target, words: String) throws {
        let builder = try RequestBuilder(.init(baseURL: "http://example.com"))
        let error = #expect(throws: NetworkError.self) { try builder.head(.get, target) }
        #expect(error?.reason.contains(words) == true)
    }

    @Test func `text and URLs in variables are taken as they are`() throws {
        let text = "http://h/a%20b?c=../.."
        #expect(HTTP.Target.url(text) == HTTP.Target(text))
        let url = try #require(URL(string: text))
        #expect(HTTP.Target.url(url) == HTTP.Target(text) && HTTP.Target(url).text == text)
    }
}

@Suite struct `Queries` {
    private enum Order: String, HTTP.QueryValue { case newest, best }
    private static let page = 2
    private static let tags = ["new", "red hot"]

    static let encoded: [(HTTP.Query, String)] = [
        ([:], ""),
        (["a": "1"], "a=1"),
        (["tag": "a", "tag": "b", "flag": HTTP.QueryFlag(), "empty": ""], "tag=a&tag=b&flag&empty="),
        (["absent": nil, "none": Int?.none, "all": [String]()], ""),
        (
            ["page": page, "tag": tags, "on": true, "some": Int?.some(3), "half": [1, nil, 2.5]],
            "page=2&tag=new&tag=red%20hot&on=true&some=3&half=1&half=2.5"
        ),
        (
            ["order": Order.best, "whole": 2.0, "at": Date(timeIntervalSince1970: 0.25)],
            "order=best&whole=2&at=1970-01-01T00%3A00%3A00.250Z"
        ),
        (.init(["b": 2, "a": 1]), "a=1&b=2"),
        (["a b": "c&d=e+f"], "a%20b=c%26d%3De%2Bf"),
        (["q": "ü/?#[]@:!$'()*,;%"], "q=%C3%BC/?%23%5B%5D%40%3A%21%24%27%28%29%2A%2C%3B%25"),
        (["": ""], "="),
        (["z": "1", "a": "2"], "z=1&a=2"),
        (["n": "\r\nHost: evil"], "n=%0D%0AHost%3A%20evil"),
    ]

    @Test(arguments: encoded)
    func `a query keeps its order and escapes all but letters, digits and -._~/?`(
        query: HTTP.Query, expected: String
    ) {
        #expect(query.encoded == expected)
        #expect(query.isEmpty == expected.isEmpty)
    }

    @Test(arguments: [
        "", "a", "a=1&b=%5B%5d", "a=1&&=?/:@!$'()*+,;-._~", "%00", "q=a+b",
    ])
    func `an encoded query is used as it is`(text: String) throws {
        var query = try HTTP.Query(encoded: text)
        #expect(query.encoded == text)
        #expect(query.isEmpty == text.isEmpty)
        query.append("[", "]")
        #expect(query.encoded == (text.isEmpty ? "" : text + "&") + "%5B=%5D")
        let builder = try RequestBuilder(.init(baseURL: "http://example.com"))
        let head = try builder.head(.get, "x", query: try .init(encoded: text))
        #expect(head.target == (text.isEmpty ? "/x" : "/x?\(text)"))
    }

    static let unencoded: [(String, HTTP.QueryError.Problem, Int, String)] = [
        ("a=%zz", .invalidPercentEncoding, 2, "a % at byte 2 of 5"), ("%", .invalidPercentEncoding, 0, "byte 0 of 1"),
        ("a%2", .invalidPercentEncoding, 1, "byte 1"), ("a%2g", .invalidPercentEncoding, 1, "byte 1"),
        ("%%20", .invalidPercentEncoding, 0, "byte 0"), ("a b", .forbiddenCharacter(" "), 1, "U+0020 at byte 1 of 3"),
        ("a#b", .forbiddenCharacter("#"), 1, "U+0023"), ("a=\u{E4}", .forbiddenCharacter("\u{E4}"), 2, "U+00E4"),
        ("\u{1F986}", .forbiddenCharacter("\u{1F986}"), 0, "U+1F986"),
        ("a\r\nHost: b", .forbiddenCharacter("\r"), 1, "U+000D"),
        ("\0", .forbiddenCharacter("\0"), 0, "U+0000"), ("\u{7F}", .forbiddenCharacter("\u{7F}"), 0, "U+007F"),
        ("a[]=1", .forbiddenCharacter("["), 1, "U+005B"), ("]", .forbiddenCharacter("]"), 0, "U+005D"),
        ("{", .forbiddenCharacter("{"), 0, "U+007B"), ("}", .forbiddenCharacter("}"), 0, "U+007D"),
        ("a|b", .forbiddenCharacter("|"), 1, "U+007C"), ("\"", .forbiddenCharacter("\""), 0, "U+0022"),
        ("<", .forbiddenCharacter("<"), 0, "U+003C"), (">", .forbiddenCharacter(">"), 0, "U+003E"),
        ("^", .forbiddenCharacter("^"), 0, "U+005E"), ("`", .forbiddenCharacter("`"), 0, "U+0060"),
        ("\\", .forbiddenCharacter("\\"), 0, "U+005C"),
    ]

    @Test(.rows("RQ-16"), arguments: unencoded)
    func `a query that claims to be encoded and is not is refused`(
        text: String, problem: HTTP.QueryError.Problem, offset: Int, words: String
    ) {
        let error = #expect(throws: HTTP.QueryError.self) { try HTTP.Query(encoded: text) }
        #expect(error?.problem == problem)
        #expect(error?.offset == offset)
        #expect(error?.description.contains(words) == true)
    }

    @Test func `an appended item is the last of a query`() {
        var query: HTTP.Query = ["a": "1"]
        query.append("b", HTTP.QueryFlag())
        query.append("none", nil)
        query.append("a", "2")
        #expect(query.encoded == "a=1&b&a=2")
        #expect(query == ["a": "1", "b": HTTP.QueryFlag(), "a": "2"])
    }

    @Test(arguments: [
        ("q=a%20b+c&tag=new&tag=red&flag&x=", ["q": ["a b c"], "tag": ["new", "red"], "flag": [""], "x": [""]]),
        ("?a=b=c&&%zz=%", ["a": ["b=c"], "%zz": ["%"]]), ("", [:]), ("?", [:]),
        ("q=\u{301}a&\u{301}b=2", ["q": ["\u{301}a"], "\u{301}b": ["2"]]),
        ("=1&a%3D=%FF", ["": ["1"], "a=": ["\u{FFFD}"]]),
    ])
    func `a query is read as forms are`(text: String, values: [String: [String]]) throws {
        let query = HTTP.Query(parsing: text)
        for (name, expected) in values {
            #expect(query.values(of: name) == expected)
            #expect(query[name] == expected[0])
        }
        #expect(query.items.count == values.values.reduce(0) { $0 + $1.count })
        #expect(query["absent"] == nil)
    }

    @Test func `what is written already can be read as well`() throws {
        let query = try HTTP.Query(encoded: "a=1&b=%20")
        #expect(query["b"] == " " && query.values(of: "a") == ["1"])
        let styled = try HTTP.Query(["filter": ["tags": ["x"]]])
        #expect(styled["filter[tags][]"] == "x")
    }
}

@Suite struct `Kept bytes` {
    @Test(.rows("RQ-1"), arguments: UInt8.min...UInt8.max)
    func `exactly the named bytes are kept unescaped`(byte: UInt8) {
        let named = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~"
        #expect(KeptBytes.unreserved.contains(byte) == named.utf8.contains(byte))
        #expect(KeptBytes.query.contains(byte) == "\(named)/?".utf8.contains(byte))
        #expect(!KeptBytes("").contains(byte))
    }
}
