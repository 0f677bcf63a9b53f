import DunlinCommandLine
import DunlinTypes
import Testing

@testable import DunlinCLI

@Suite(.timeLimit(.minutes(10))) struct CommandTests {
    @Test(
        arguments: [
            ([], .page(.overview)), (["help"], .page(.overview)), (["-h"], .page(.overview)),
            (["get", "--help"], .page(.command("get"))), (["demo", "-h"], .page(.command("demo"))),
            (["help", "get"], .page(.command("get"))), (["help", "trust"], .page(.section("trust"))),
            (["help", "all"], .page(.all)), (["help", "man"], .page(.manual)),
            (["completions", "zsh"], .page(.completions(.zsh))),
            (["version"], .page(.version)), (["--version"], .page(.version)), (["-V"], .page(.version)),
            (["get", "--version"], .page(.version)), (["a.test", "-V"], .page(.version)), (["demo"], .demo),
            (["POST", "a.test"], get("https://a.test", method: "POST")),
            (["-i", "PURGE", "localhost:8080"], get("http://localhost:8080", head: true, method: "PURGE")),
            (["-X", "PUT", "POST", "a.test"], get("https://a.test", method: "PUT")),
            (["FOO"], get("https://FOO")), (["post", "POST"], get("https://POST", method: "POST")),
            (["reachability"], .reachability(host: nil, observes: false)),
            (["reachability", "a.test", "--watch"], .reachability(host: "a.test", observes: true)),
            (["reachability", "-w", "::1"], .reachability(host: "::1", observes: true)),
            (["reachability", "-h"], .page(.command("reachability"))),
            (["cache", "list"], .cache(.list)), (["cache", "clear"], .cache(.clear)),
            (["a.test"], get("https://a.test")), (["-i", "localhost/x"], get("http://localhost/x", head: true)),
            (["https://cache/"], get("https://cache/")),
            (["get", "http://a.test"], get("http://a.test")),
            (["get", "-i", "http://a.test"], get("http://a.test", head: true)),
            (["get", "http://a.test", "--verbose", "--include"], get("http://a.test", head: true, verbose: true)),
            (["get", "-v", "http://a.test"], get("http://a.test", verbose: true)),
            (["get", "-o", "a.img", "http://a.test"], get("http://a.test", file: "a.img")),
            (["get", "--insecure", "https://a.test"], get("https://a.test", trust: TrustOptions(isInsecure: true))),
            (
                ["get", "--compatible", "https://a.test"],
                get("https://a.test", trust: TrustOptions(acceptsCompatible: true))
            ),
            (["get", "--retry", "3", "http://a.test"], get("http://a.test", retries: 3)),
            (
                ["get", "--ca", "a.pem", "https://a.test", "--ca", "b.pem", "--cert", "me.pem", "--key", "key.pem"],
                get(
                    "https://a.test",
                    trust: TrustOptions(authorities: ["a.pem", "b.pem"], certificate: "me.pem", key: "key.pem"))
            ),
        ] as [([String], Command)])
    func `the arguments determine the command and its options`(arguments: [String], expected: Command) throws {
        #expect(try Command(arguments: arguments) == expected)
    }

    @Test func `the version that is printed is the library's`() async throws {
        let paper = try Paper()
        #expect(await DunlinCommand.run(.page(.version), paper.output) == .success)
        #expect(try paper.said == "dunlin \(LibraryVersion.number)\n")
    }

    @Test(arguments: [
        (["fly", "a.test"], "dunlin takes one URL; \"a.test\" is another"),
        (
            ["gett", "a.test"],
            "dunlin takes one URL; \"a.test\" is another, and the command nearest to \"gett\" is get"
        ),
        (["-i", "get", "a.test"], "dunlin takes one URL; \"a.test\" is another; get has to be the first argument"),
        (["ftp://a.test"], "\"ftp://a.test\": the scheme is neither http nor https"),
        (["help", "trusst"], "there is no help on \"trusst\"; the nearest is trust"),
        (["help", "me", "now"], "help takes one topic; \"now\" is another"),
        (["completions", "tcsh"], "completions takes bash, zsh or fish, not \"tcsh\""),
        (["cache"], "cache takes list or clear; see dunlin help"),
        (["get"], "get needs a URL; see dunlin help"),
        (["get", "-i"], "get needs a URL; see dunlin help"),
        (["get", "http://a.test", "http://b.test"], "get takes one URL; \"http://b.test\" is another"),
        (["get", "--loud", "http://a.test"], "get has no option \"--loud\"; see dunlin help all"),
        (["reachability", "--loud"], "reachability has no option \"--loud\"; see dunlin help all"),
        (["reachability", "a.test", "b.test"], "reachability takes one host; \"b.test\" is another"),
        (["demo", "twice"], "demo takes no arguments; \"twice\" was given"),
        (["get", "--ca"], "--ca needs a value"),
        (["get", "http://a.test", "--output"], "--output needs a value"),
        (["get", "-o", "", "http://a.test"], "-o needs a value"),
        (["get", "--key", "key.pem", "https://a.test"], "--key needs --cert as well"),
        (["get", "http://a.test", "--retry"], "--retry needs a value"),
        (["get", "--retry", "-1", "http://a.test"], "--retry needs a number from 0 to 100, not \"-1\""),
        (["get", "--retry", "x", "http://a.test"], "--retry needs a number from 0 to 100, not \"x\""),
        (["cache", "list", "x"], "cache takes one word, list or clear; \"x\" is another"),
        (["token=hunter2"], "dunlin needs a URL before NAME=VALUE; see dunlin help"),
        (["post", "token:=hunter2", "a=1"], "post needs a URL before NAME=VALUE; see dunlin help"),
        (["POST"], "POST needs a URL; see dunlin help"),
        (["cache", "empty"], "cache takes list or clear, not \"empty\"; see dunlin help"),
        (
            ["get", "--pin", "sha256/short", "https://a.test"],
            "\"sha256/short\" is not a pin; a pin is sha256/ and Base64 of 32 bytes"
        ),
        (
            ["get", "--pin", pin, "http://a.test"],
            "--pin needs an https URL: over http there is no certificate to check"
        ),
        (
            ["get", "--pin", pin, "--insecure", "https://a.test"],
            "--insecure and --pin contradict each other; give one"
        ),
        (["version", "-v"], "version has no option \"-v\"; it is one of dunlin URL"),
    ])
    func `arguments that make no sense are refused with the reason`(arguments: [String], expected: String) {
        #expect(throws: UsageError(description: expected)) { try Command(arguments: arguments) }
    }

    private static let pin = "sha256/RhJ0zCbdbdlj3rUd8PEcLlzpVz5SUQzzGHKXFzvLP6M="

    private static func get(
        _ url: String, head: Bool = false, verbose: Bool = false, file: String? = nil, retries: Int = 0,
        trust: TrustOptions = TrustOptions(), method: String? = nil
    ) -> Command {
        .get(
            url: url,
            Command.GetOptions(
                showsHead: head, isVerbose: verbose, file: file, retries: retries, trust: trust,
                request: RequestOptions(method: method, traces: verbose)))
    }
}
