import Testing

@testable import DunlinCLI

@Suite struct CommandTests {
    @Test(
        arguments: [
            ([], .help), (["help"], .help), (["-h"], .help), (["get", "--help"], .help), (["demo", "-h"], .help),
            (["version"], .version), (["--version"], .version), (["demo"], .demo),
            (["get", "http://a.test"], get("http://a.test")),
            (["get", "-i", "http://a.test"], get("http://a.test", head: true)),
            (["get", "http://a.test", "--verbose", "--include"], get("http://a.test", head: true, verbose: true)),
            (["get", "-v", "http://a.test"], get("http://a.test", verbose: true)),
        ] as [([String], Command)])
    func `arguments say what to do`(arguments: [String], expected: Command) throws {
        #expect(try Command(arguments: arguments) == expected)
    }

    @Test(arguments: [
        (["fly"], "there is no command \"fly\"; see dunlin help"),
        (["get"], "get needs a URL; see dunlin help"),
        (["get", "-i"], "get needs a URL; see dunlin help"),
        (["get", "http://a.test", "http://b.test"], "get takes one URL; \"http://b.test\" is another"),
        (["get", "--loud", "http://a.test"], "get has no option \"--loud\"; see dunlin help"),
        (["demo", "twice"], "demo takes no arguments; \"twice\" was given"),
        (["version", "-v"], "version takes no arguments; \"-v\" was given"),
    ])
    func `arguments that make no sense are told so`(arguments: [String], expected: String) {
        #expect(throws: UsageError(description: expected)) { try Command(arguments: arguments) }
    }

    private static func get(_ url: String, head: Bool = false, verbose: Bool = false) -> Command {
        .get(url: url, Command.GetOptions(showsHead: head, isVerbose: verbose))
    }
}
