import Dunlin
import DunlinCommandLine
import DunlinTesting
import Folders
import Testing

@testable import DunlinCLI

/// Words after the URL.
@Suite(.timeLimit(.minutes(5))) struct RequestItemTests {
    @Test(
        arguments: [
            ("a=b", .member("a", "b")), ("a=b=c:d@e", .member("a", "b=c:d@e")), ("a=", .member("a", "")),
            ("a:=1", .member("a", 1)), (#"a:=["x", null]"#, .member("a", ["x", nil])),
            ("a==b c", .parameter("a", "b c")), ("X-A:b:c", .field("X-A", "b:c")), ("a@b=c", .file("a", path: "b=c")),
            ("url=https://b.test", .member("url", "https://b.test")), ("u==http://b", .parameter("u", "http://b")),
            ("Referer:https://b.test", .field("Referer", "https://b.test")),
            ("a=\u{301}b", .member("a", "\u{301}b")), ("a==\u{301}b", .parameter("a", "\u{301}b")),
            (#"a\=b=c"#, .member("a=b", "c")), (#"a\:b:c"#, .field("a:b", "c")), (#"a\b=c"#, .member(#"a\b"#, "c")),
            ("X-A:", .field("X-A", "")), ("X-A;", .emptyField("X-A")), (";", nil), ("a b;", nil),
            ("a", nil), ("=a", nil), ("", nil), ("http://b.test", nil),
        ] as [(String, RequestItem?)])
    func `the first separator says what a word is`(word: String, expected: RequestItem?) throws {
        #expect(try RequestItem(word) == expected)
    }

    @Test(arguments: [
        (["a:=x"], "a:= has no JSON after it; use = for text"), (["a@"], "\"a@\" names no file after the @"),
        (["a=1", "-d", "b"], "-d and NAME=VALUE both give a body; use one"),
        (["a=1", "--json", "2"], "--json and NAME=VALUE both give a body; use one"),
        (["a@b", "c:=1"], "c:= is JSON, which a form with files does not take"),
        (["a@b", "-T", "c"], "NAME@FILE and -T both give a body; use one"),
        (["a=b", "-T", "c"], "NAME=VALUE and -T both give a body; use one"),
        (["a b:c"], "NAME:VALUE; what is before the colon is not a field's name"),
    ])
    func `items that make no sense are refused`(words: [String], expected: String) {
        #expect(throws: UsageError(description: expected)) { try Command(arguments: ["a.test"] + words) }
    }

    @Test func `items become fields, parameters, JSON and forms`() async throws {
        let (server, folder, paper) = (try LoopbackServer(), try Folder(), try Paper())
        defer { server.stop() }
        server.respond { _ in .response(body: "") }
        let file = try folder.write("content", as: "b.txt")
        let words = [["name=it's", "n:=1.50", "q==a&b", "X-A: 1"], ["q==1"], ["a=1", "f@\(file)"]]
        for words in words {
            let command = try Command(arguments: [server.baseURL + "/x?y"] + words)
            #expect(await DunlinCommand.run(command, paper.output) == .success)
        }
        let requests = server.requests
        #expect(requests.map(\.method) == [.post, .get, .post])
        #expect(requests.map(\.target) == ["/x?y&q=a%26b", "/x?y&q=1", "/x?y"])
        #expect(requests[0].body == Bytes(#"{"name":"it's","n":1.50}"#))
        #expect(requests[0].fields["content-type"] == "application/json" && requests[0].fields["x-a"] == "1")
        let form = String(decoding: requests[2].body.array, as: UTF8.self)
        #expect(form.contains("name=\"a\"\r\n\r\n1\r\n") && form.contains("filename=\"b.txt\""))
    }
}
