import Dunlin
import DunlinCommandLine
import Testing

@testable import DunlinCLI

/// Lists, names, rates and command lines, which need no server.
@Suite(.timeLimit(.minutes(10))) struct TransferTextTests {
    private static let digest = String(repeating: "0f", count: 32)

    @Test func `a list has a URL a line, comments, blank lines, digests and names`() throws {
        let text = """
            \u{FEFF}# fetched weekly\r\n\r\na.test/1\r
              localhost/2\tsha256:\(Self.digest)  my  film.mp4 # the third\n
            https://b.test/x#part ../../.secret
            """
        let items = try DownloadList.items(text, of: "list")
        #expect(items.map(\.url) == ["https://a.test/1", "http://localhost/2", "https://b.test/x#part"])
        #expect(items.map(\.name) == [nil, "my film.mp4", "secret"])
        #expect(items.map { $0.digest?.hex } == [nil, Self.digest, nil])
    }

    @Test(arguments: [
        ("a.test\n\nftp://b.test", "line 3 of list: \"ftp://b.test\": the scheme is neither http nor https"),
        ("a.test sha256:0", "line 1 of list: \"sha256:0\" is not a SHA-256 digest, which has 64 hexadecimal digits"),
        ("a.test sha256:\(digest) sha256:\(digest)", "line 1 of list: there are two digests"),
    ])
    func `a line that makes no sense is named`(text: String, expected: String) {
        #expect(throws: UsageError(description: expected)) { try DownloadList.items(text, of: "list") }
    }

    @Test func `files of one name get numbers before their extensions`() async {
        let names = FileNames(["a.tar.gz", "b", "a.tar.gz", "a-1.tar.gz", "b"])
        #expect((0..<5).map { names.known(at: $0) } == ["a.tar.gz", "b", "a-1.tar.gz", "a-1-1.tar.gz", "b-1"])
        // Whoever answers first gets the name that was shared out by the list.
        #expect(await names.name(at: 2, suggested: "a.tar.gz") == "a-1.tar.gz")
        #expect(await names.name(at: 0, suggested: "b") == "b-2")
        #expect(await names.name(at: 1, suggested: "other") == "other")
        let long = String(repeating: "x", count: 250) + ".bin"
        #expect(SavedName.numbered(long, 12).utf8.count <= 255 && SavedName.numbered(long, 12).hasSuffix("-12.bin"))
    }

    @Test(arguments: [("5000", 5000), ("200K", 204_800), ("1.5m", 1_572_864), ("1G", 1 << 30), ("10B", 10)])
    func `a rate is a number with a unit`(text: String, expected: Int) throws {
        #expect(try Rate(text).bytesPerSecond == expected)
    }

    @Test(arguments: ["", "0", "-1", "K", "1X", "1e99", "1 K", "0.2", "nan", "inf"])
    func `a rate that makes no sense is refused`(text: String) {
        #expect(throws: UsageError.self) { try Rate(text) }
    }

    @Test(arguments: [
        (["-o", "a b", "a.test/x?q=1&r"], "dunlin -o 'a b' 'a.test/x?q=1&r' -C -"),
        (["-oa", "-C-", "a.test"], "dunlin -o a -C - a.test"),
        (["-oa\u{1B}]2;b", "a=b", "a.test"], #"dunlin -o "$(printf 'a\033]2;b')" 'a=b' a.test -C -"#),
        (["get", "-Oume:pass", "a.test/it's"], "dunlin get -O -u me 'a.test/it'\\''s' -C -"),
        (
            ["--bearer=abc", "-HAuthorization: Basic x", "-H", "X: 1", "http://me:pw@a.test/?token=1&a=2", "-o~"],
            "dunlin --bearer … -H 'Authorization: …' -H 'X: 1' 'http://…@a.test/?token=…&a=2' -o '~' -C -"
        ),
        (["-o~", "-x", "me:pw@b.test:1", "a.test"], "dunlin -o '~' -x … a.test -C -"),
        (["-o~", "me:pw@a.test/x"], "dunlin -o '~' … -C -"), (["-o~", "me:pw@a.test/x?a=1"], "dunlin -o '~' … -C -"),
        (["-o~", "-H", "X: Bearer abc", "a.test"], "dunlin -o '~' -H 'X: …' a.test -C -"),
        (["-o~", "http://a.test/?a=1#access_token=x"], "dunlin -o '~' 'http://a.test/?a=1#…' -C -"),
        (["-o~", "-G", "-d", "a=1&token=x", "a.test"], "dunlin -o '~' -G -d … a.test -C -"),
        (["-o~", "-e", "http://me:pw@c.test/", "a.test"], "dunlin -o '~' -e 'http://…@c.test/' a.test -C -"),
        (["-o~", "-e", "me:pw@c.test", "a.test"], "dunlin -o '~' -e … a.test -C -"),
    ])
    func `a command line is shown for a shell and without secrets`(arguments: [String], expected: String) {
        let line = CommandEcho.line(
            of: arguments, for: CommandTable.text, adding: [(["-C", "--continue-at"], ["-C", "-"])])
        #expect(line.text.replacing("'…'", with: "…") == expected)
        #expect((line.isWhole == !expected.contains("…")) || arguments.contains("-Oume:pass"))
    }
}
