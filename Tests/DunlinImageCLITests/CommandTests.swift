import DunlinCommandLine
import DunlinImages
import Testing

@testable import DunlinImageCLI

@Suite struct CommandTests {
    private static let resize = "--resize needs a size up to 65500 on a side, such as 640x480, 640x or x480"

    private static func show(
        _ sources: String..., change: (inout Command.Options) -> Void = { _ in }
    ) -> Command {
        var options = Command.Options()
        change(&options)
        return .show(sources, options)
    }

    @Test(
        arguments: [
            ([], .page(.overview)), (["help"], .page(.overview)), (["-h"], .page(.overview)),
            (["a.png", "--help"], .page(.overview)), (["--version"], .page(.version)),
            (["help", "man"], .page(.manual)),
            (["a.png"], show("a.png")), (["-"], show("-")),
            (["a.png", "http://a.test/b"], show("a.png", "http://a.test/b")),
            (["--", "--info"], show("--info")),
            (["--as", "sixel", "a"], show("a") { $0.method = .sixel }),
            (["a", "--as", "kitty"], show("a") { $0.method = .kitty }),
            (["--as", "blocks", "a"], show("a") { $0.method = .blocks }),
            (["--width", "40", "--height", "5", "a"], show("a") { $0.bounds = .init(columns: 40, rows: 5) }),
            (["--info", "a"], show("a") { $0.isInfo = true }),
            (["--frames", "a"], show("a") { $0.playsFrames = true }),
            (["-o", "b.PNG", "a"], show("a") { $0.file = "b.PNG" }),
            (["--output", "b.jpeg", "a"], show("a") { $0.file = "b.jpeg" }),
            (["--resize", "640x480", "a"], show("a") { $0.size = .init(width: 640, height: 480) }),
            (["--resize", "640x", "a"], show("a") { $0.size = .init(width: 640) }),
            (["--resize", "x480", "a"], show("a") { $0.size = .init(height: 480) }),
            (["--cache", "a"], show("a") { $0.usesCache = true }),
            (
                ["-ob.png", "--resize=1x1", "./help"],
                show("./help") { ($0.file, $0.size) = ("b.png", .init(width: 1, height: 1)) }
            ),
            (
                ["-k", "https://a.test/b", "--proxy=http://p.test"],
                show("https://a.test/b") { ($0.trust.isInsecure, $0.route.proxy) = (true, "http://p.test") }
            ),
        ] as [([String], Command)])
    func `the arguments determine the command and its options`(arguments: [String], expected: Command) throws {
        #expect(try Command(arguments: arguments) == expected)
    }

    @Test(arguments: [
        (["--info"], "a URL or a file is needed; see dunlin-image help"),
        (["--loud", "a"], "there is no option \"--loud\"; see dunlin-image help all"),
        (["--hight=3", "a"], "there is no option \"--hight\"; the nearest is --height"),
        (["--key", "k.pem", "https://a.test/b"], "--key needs --cert as well"),
        (
            ["--pin", "sha256/RhJ0zCbdbdlj3rUd8PEcLlzpVz5SUQzzGHKXFzvLP6M=", "https://a.test/", "https://b.test/"],
            "--pin needs URLs of one server"
        ),
        (["--as", "ascii", "a"], "--as takes kitty, sixel or blocks, not \"ascii\""),
        (["a", "--as"], "--as needs a value"), (["a", "-o", ""], "-o needs a value"),
        (["--width", "0", "a"], "--width needs a number from 1 to 10000, not \"0\""),
        (["--height", "-3", "a"], "--height needs a number from 1 to 10000, not \"-3\""),
        (
            ["--width", "99999999999999999999", "a"],
            "--width needs a number from 1 to 10000, not \"99999999999999999999\""
        ),
        (["--resize", "x", "a"], "\(resize), not \"x\""),
        (["--resize", "0x1", "a"], "\(resize), not \"0x1\""),
        (["--resize", "65501x1", "a"], "\(resize), not \"65501x1\""),
        (["--resize", "1x2x3", "a"], "\(resize), not \"1x2x3\""),
        (["--resize", "64", "a"], "\(resize), not \"64\""),
        (["-o", "a.gif", "a"], "--output needs a name that ends in .png, .jpg or .jpeg, not \"a.gif\""),
        (["-o", "a.png", "a", "b"], "--output takes one picture, but 2 are given"),
        (["-o", "a.png", "--frames", "a"], "--frames plays on the terminal only; leave out --output"),
        (["--info", "-o", "a.png", "a"], "--info shows no picture; leave out --output, --frames and --resize"),
    ])
    func `arguments that make no sense are refused in one line`(arguments: [String], message: String) {
        #expect(throws: UsageError(description: message)) { try Command(arguments: arguments) }
    }

    @Test(
        arguments: [
            (Command.Resizing(width: 10, height: 20), 10, 20), (.init(width: 320), 320, 240), (.init(height: 1), 1, 1),
            (.init(height: 960), 1280, 960),
        ] as [(Command.Resizing, Int, Int)])
    func `a side that is left out keeps the shape`(resizing: Command.Resizing, width: Int, height: Int) {
        #expect(resizing.size(of: ImageSize(width: 640, height: 480)) == ImageSize(width: width, height: height))
    }

    @Test(arguments: [
        ("a.png", "a.png"), ("-", "standard input"), ("http://a.test/b.png?token=x#y", "http://a.test/b.png"),
        ("https://me:secret@a.test/b", "https://a.test/b"), ("https://a.test?x", "https://a.test"),
        ("HTTPS://u@a.test/@b", "HTTPS://a.test/@b"), ("a?b", "a?b"),
    ])
    func `a URL is named without what may be secret in it`(name: String, shown: String) {
        #expect(PictureSource(name: name).shownName == shown)
    }

    @Test func `its pages fit a terminal, and say every option`() {
        let text = CommandTable.text
        let lines = HelpPage.overview.text(of: text).split(separator: "\n", omittingEmptySubsequences: false)
        #expect(lines.count <= 24 && lines.allSatisfy { $0.count < 80 })
        #expect(text.main.options.dropLast(2) == Command.Options.table.map(\.text)[...])
        for page in [HelpPage.all, .manual, .completions(.bash), .completions(.zsh), .completions(.fish)] {
            let words = page.text(of: text).replacing("\\-", with: "-")
            for option in text.main.options { #expect(words.contains(option.name), "\(page)") }
        }
    }
}
