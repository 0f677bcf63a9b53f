import DunlinSemantics
import DunlinTypes
import Testing

@Suite struct `A file name` {
    static let names: [(String, String)] = [
        ("report.pdf", "report.pdf"), ("two words.txt", "two words.txt"), ("Grüße 日本.txt", "Grüße 日本.txt"),
        ("../../etc/passwd", "passwd"), ("/etc/passwd", "passwd"), (#"C:\Windows\system.ini"#, "system.ini"),
        (#"..\..\x"#, "x"), ("a/", "a"), ("a//", "a"), (#"a/\"#, "a"), ("..", "download"), (".", "download"),
        ("...", "download"), ("", "download"), ("   ", "download"), ("/", "download"), ("a/..", "download"),
        ("../..", "download"), (".bashrc", "bashrc"), ("..hidden", "hidden"), (" . .x", "x"), (". /", "download"),
        ("a.", "a."), (" a ", "a"), ("a\u{A0}", "a"), ("a\0b", "ab"), ("\0", "download"), ("a\nb\r\tc\u{7F}", "abc"),
        ("x\u{85}\u{9F}y", "xy"), ("\u{202E}gpj.exe", "gpj.exe"), ("photo\u{202E}gpj.exe", "photogpj.exe"),
        ("a\u{2066}b\u{2069}c\u{200F}d\u{61C}e", "abcde"), ("\u{FEFF}a\u{200B}b\u{2028}c", "abc"),
        ("\u{200B}.hidden", "hidden"), (".\u{202E}.", "download"), ("a\u{FFFE}b\u{E0041}c", "abc"),
        ("e\u{301}.txt", "e\u{301}.txt"), ("👩‍👩‍👧.png", "👩‍👩‍👧.png"), ("می‌خواهم", "می‌خواهم"),
        ("-rf", "-rf"), ("a:b*c?", "a:b*c?"), ("%2e%2e%2f", "%2e%2e%2f"),
    ]

    @Test(arguments: names)
    func `a file name is made fit to be used`(name: String, expected: String) {
        #expect(FileName.sanitized(name) == expected)
        #expect(FileName.sanitized(expected) == expected)
    }

    private static func long(_ letter: String, _ count: Int) -> String { String(repeating: letter, count: count) }

    static let lengths: [(String, String)] = [
        (long("a", 255), long("a", 255)), (long("a", 256), long("a", 255)),
        (long("a", 300) + ".txt", long("a", 251) + ".txt"), (long("a", 300) + ".tar.gz", long("a", 248) + ".tar.gz"),
        (long("ä", 200) + ".txt", long("ä", 125) + ".txt"),
        // 18 bytes of one character: 13 of them and the extension.
        (long("👩‍👩‍👧", 20) + ".png", long("👩‍👩‍👧", 13) + ".png"),
        ("a." + long("b", 300), "a." + long("b", 253)),
        (long("a", 250) + "." + long("b", 32), long("a", 250) + "." + long("b", 4)),
        (long("a", 250) + "  b.txt", long("a", 250) + ".txt"),
        ("e" + long("\u{301}", 200) + ".txt", "e" + long("\u{301}", 125) + ".txt"),
        (long("a", 254) + "é", long("a", 254)),
    ]

    @Test(arguments: lengths)
    func `a file name is shortened before its extension, by whole characters`(name: String, expected: String) {
        let short = FileName.sanitized(name)
        #expect(short == expected)
        #expect(short.utf8.count <= FileName.longest)
    }

    @Test func `a file name is as long as it is told to be`() {
        #expect(FileName.sanitized("abcdefghijkl.txt", limit: 10) == "abcdef.txt")
        #expect(FileName.suggested([:], path: "/abcdefghijkl.txt", limit: 10) == "abcdef.txt")
    }

    static let suggestions: [(Fields, String, String)] = [
        (["Content-Disposition": "attachment; filename=a.txt"], "/b", "a.txt"),
        (["Content-Disposition": "attachment"], "/b", "b"), (["Content-Disposition": ""], "/b", "b"),
        (["Content-Disposition": #"attachment; filename="""#], "/b", "b"),
        (["Content-Disposition": #"attachment; filename="..""#], "/b", "b"),
        ([:], "/a/b.zip?c=/d#e", "b.zip"), ([:], "/a%20b.zip", "a b.zip"), ([:], "/", "download"),
        ([:], "", "download"),
        ([:], "/a/", "download"), ([:], "/%2e%2e%2fetc%2fpasswd", "passwd"), ([:], "/%00", "download"),
        ([:], "/%FF", "download"), ([:], "/%", "download"), ([:], "/a/..", "download"), ([:], "/a?b/c", "a"),
    ]

    @Test(arguments: suggestions)
    func `a file name is what the server says, or the last of the path`(fields: Fields, path: String, expected: String)
    {
        #expect(FileName.suggested(fields, path: path) == expected)
    }
}
