import Dunlin
import DunlinCommandLine
import Folders
import Foundation
import Testing

@testable import DunlinCLI

/// What `-F` and `--form-string` take.
@Suite struct FormPartTests {
    @Test(
        arguments: [
            ("a=x", .text("x")), ("a=", .text("")), ("a=x;type=text/plain", .text("x", type: "text/plain")),
            ("a=x; type=text/plain", .text("x", type: "text/plain")), ("a=x;y", .text("x;y")),
            ("a=x;y;type=a/b", .text("x;y", type: "a/b")), (#"a="x;type=a/b""#, .text("x;type=a/b")),
            (#"a="x\"\\y";type=a/b"#, .text(#"x"\y"#, type: "a/b")), (#"a="x"y"#, .text(#""x"y"#)),
            ("a=x;TYPE=a/b;charset=utf-8", .text("x", type: "a/b;charset=utf-8")), ("a= x ", .text(" x ")),
            ("a=\u{301}x", .text("\u{301}x")), ("a=b=@c", .text("b=@c")),
            ("a=@f", .file(path: "f", name: nil, type: nil)), ("a=@-", .file(path: "-", name: nil, type: nil)),
            ("a=@f;type=a/b;filename=n", .file(path: "f", name: "n", type: "a/b")),
            (#"a=@f;filename="a;b.txt";type=a/b"#, .file(path: "f", name: "a;b.txt", type: "a/b")),
            (#"a=@"f;1""#, .file(path: "f;1", name: nil, type: nil)),
            ("a=@f;filename=", .file(path: "f", name: "", type: nil)),
            ("a=<f", .contents(.file("f"))), ("a=<-;type=a/b", .contents(.input, type: "a/b")),
        ] as [(String, FormPart.Content)])
    func `a part is a text, a file, or what a file has`(text: String, expected: FormPart.Content) throws {
        #expect(try FormPart(text) == FormPart("a", expected))
    }

    @Test(arguments: ["x", "@f", "<f", "x;type=a/b", #""x""#, "a=b", ""])
    func `nothing in a string means anything`(text: String) throws {
        #expect(try FormPart(literal: "a=\(text)") == FormPart("a", .text(text)))
    }

    @Test(arguments: [
        ("secret", "-F needs NAME=VALUE or NAME=@FILE; there is no = after a name"),
        ("=secret", "-F needs NAME=VALUE or NAME=@FILE; there is no = after a name"),
        ("a=secret;type=", "-F needs a type such as text/plain after ;type="),
        ("a=secret;type=text", "-F needs a type such as text/plain after ;type="),
        ("a=secret;type=/", "-F needs a type such as text/plain after ;type="),
        ("a=secret;type=a/b\r\nX: y", "-F needs a type such as text/plain after ;type="),
        ("a=secret;filename=f", "after a text -F takes only ;type="),
        ("a=secret;headers=x", "after a text -F takes only ;type="),
        ("a=@f;secret", "after a file -F takes only ;type= and ;filename="),
        ("a=@", "-F needs a file after @; @- is standard input"),
        ("a=<", "-F needs a file after <; <- is standard input"),
    ])
    func `a part that makes no sense is refused, and its value is not shown`(text: String, expected: String) {
        #expect(throws: UsageError(description: expected)) { try FormPart(text) }
    }

    @Test(arguments: ["a=@/nowhere", "a=</nowhere"]) func `a missing file is named`(text: String) throws {
        let part = try FormPart(text)
        #expect(throws: UsageError(description: "the file /nowhere cannot be read: No such file or directory")) {
            try part.part()
        }
    }
}
