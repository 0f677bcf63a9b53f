import LedgerRows
import Testing

@testable import DunlinSemantics

@Suite struct `Media types` {
    static let fields: [(String, String?, [String])] = [
        ("text/plain", "text/plain", []), ("TEXT/Html ; Charset=\"UTF-8\"", "text/html", ["charset=UTF-8"]),
        ("application/json;", "application/json", []), ("a/b;c=d;e=\"f;g\\\"h\";i", "a/b", ["c=d", "e=f;g\"h"]),
        ("a/b; c=1; C=2", "a/b", ["c=1"]), ("a/b ; c = d ", "a/b", ["c=d"]), ("a/b;c=\"d", "a/b", ["c=d"]),
        ("a/b;=x;c=", "a/b", ["c="]), ("", nil, []), ("text", nil, []), ("/plain", nil, []), ("text/", nil, []),
        ("text;a=b/c", nil, []), (";", nil, []), ("a/b, c/d", "a/b", []), ("\u{E4}/\u{F6};\u{FC}", "\u{E4}/\u{F6}", []),
    ]

    @Test(.rules("9110-5.6.6-1", "9110-8.3-2"), arguments: fields)
    func `media types are read as servers write them`(field: String, essence: String?, parameters: [String]) {
        let type = MediaType(field)
        #expect(type?.essence == essence)
        #expect((type?.parameters ?? []).map { "\($0.name)=\($0.value)" } == parameters)
    }

    @Test func `media types are read to a bounded number of parameters`() {
        func type(_ before: Int) -> MediaType? {
            MediaType("a/b" + (0..<before).map { ";p\($0)=" }.joined() + ";charset=utf-8")
        }
        #expect(type(MediaType.mostParameters - 1)?["charset"] == "utf-8")
        #expect(type(MediaType.mostParameters)?["charset"] == nil)
        #expect(type(20_000)?.parameters.count == MediaType.mostParameters)
    }
}
