import DunlinSemantics
import Testing

@Suite struct `Name patterns` {
    static let patterns: [(String, matched: [String], other: [String])] = [
        ("a.test", ["a.test", "A.TEST", "a.test."], ["b.a.test", "xa.test", "evila.test", "test", "a.test.b"]),
        (
            "*.a.test", ["b.a.test", "c.b.a.test", "B.A.Test."],
            ["a.test", "xa.test", "evila.test", ".a.test", "b.a.test.c"]
        ),
        ("A.Test.", ["a.test"], []), ("*.test", ["a.test"], ["test"]),
        ("b\u{FC}cher.test", ["xn--bcher-kva.test", "b\u{FC}cher.test"], []),
        ("localhost", ["localhost"], ["a.localhost"]),
        ("a.test", [], ["", "a..test", "10.0.0.1", "::1", "a.test\0"]),
    ]

    @Test(arguments: patterns)
    func `a pattern is one name, or the names below it`(text: String, matched: [String], other: [String]) throws {
        let pattern = try NamePattern(text)
        for host in matched { #expect(pattern.matches(host), "\(host)") }
        for host in other { #expect(!pattern.matches(host), "\(host)") }
        #expect(try NamePattern(pattern.description) == pattern)
    }

    static let refused: [(String, NamePattern.Problem)] = [
        ("", .invalidName), (".", .invalidName), (".a.test", .invalidName), ("*.", .invalidName), ("a b", .invalidName),
        ("a:80", .invalidName), ("http://a", .invalidName), ("127.1", .invalidName), ("[::1]", .address),
        ("*", .wildcard), ("*a", .wildcard), ("a.*", .wildcard), ("*.*.a", .wildcard), ("10.0.0.1", .address),
        ("*.10.0.0.1", .address), ("10.0.0.0/8", .invalidName),
    ]

    @Test(arguments: refused)
    func `a text that is no pattern says what to write`(text: String, problem: NamePattern.Problem) {
        #expect(throws: problem) { try NamePattern(text) }
    }
}
