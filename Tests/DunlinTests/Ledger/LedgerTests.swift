import FoundationEssentials
import Testing

@Suite struct `Docs/AFNetworking.md` {
    /// Rows whose code is there or on its way, and whose tests do not carry their IDs yet. None when all is done.
    private static let pending: Set<String> = []

    private static let package = URL(filePath: #filePath).appending(path: "../../../..").standardized

    private static func text(_ path: String) throws -> String {
        String(decoding: try Data(contentsOf: package.appending(path: path)), as: UTF8.self)
    }

    /// The IDs there are, in the order of the corpus.
    private static func ids() throws -> [String] {
        try text("Tests/Corpus/afnetworking/rows.txt").split(separator: "\n").filter { !$0.hasPrefix("#") }
            .map(String.init)
    }

    /// Every ID that a test carries, by the sources.
    private static func carried() throws -> Set<String> {
        let folder = package.appending(path: "Tests").path
        let files = try FileManager.default.subpathsOfDirectory(atPath: folder).filter { $0.hasSuffix(".swift") }
        return try files.reduce(into: []) { $0.formUnion(Ledger.carried(in: try text("Tests/\($1)"))) }
    }

    @Test func `Docs/AFNetworking.md has every row once, with a test that carries its ID or a reason`() throws {
        let ids = try Self.ids()
        #expect(ids.count == 493 && Set(ids).count == ids.count)
        let carried = try Self.carried()
        #expect(carried.count > 300)
        let problems = Ledger(try Self.text("Docs/AFNetworking.md"))
            .problems(ids: ids, carried: carried, pending: Self.pending)
        #expect(problems.isEmpty, "\(problems.joined(separator: "\n"))")
    }

    /// Texts of tests, and the IDs that they carry. The quotes are escaped, so that this file carries none of them.
    private static let sources: [(String, Set<String>)] = [
        ("", []),
        ("@Test func `a`() {}", []),
        ("@Test(.rows(\"SM-1\")) func `a`() {}", ["SM-1"]),
        ("@Suite(.rows(\"SM-1\", \"OP-3\"), .serialized) struct `A` {", ["SM-1", "OP-3"]),
        ("@Test(\n    .rows(\n        \"SM-1\",\n        \"SM-2\"),\n    arguments: [\"OP-3\"])", ["SM-1", "SM-2"]),
        ("@Test(.rows(\"SM-1\"))\n@Test(.rows(\"SM-2\"))", ["SM-1", "SM-2"]),
        ("    /// As in `.rows(\"SM-1\")`.\n    // @Test(.rows(\"SM-2\"))\n", []),
        ("ledger.rows(of: \"SM-1\")", []),
        ("ledger.rows[\"SM-1\"]", []),
    ]

    @Test(arguments: sources.indices) func `the ledger reads the IDs of a test from its trait`(index: Int) {
        #expect(Ledger.carried(in: Self.sources[index].0) == Self.sources[index].1)
    }

    private static let good = """
        | ID | What Dunlin does | Test, or why not |
        |---|---|---|
        | SM-1 | this | tested |
        | SM-2 | that | pending |
        | OP-3 | | Not yet: images. |
        """

    /// What is done to a good file, and what is said of it then.
    private static let spoilt: [(String, String, String?)] = [
        ("", "", nil),
        ("| SM-1 | this | tested |", "", "SM-1 is missing"),
        ("| SM-2 | that", "| SM-1 | that", "SM-1 stands here 2 times"),
        ("OP-3", "OP-4", "OP-4 is no row of AFNetworking's"),
        ("OP-3", "OP-4", "OP-3 is missing"),
        ("OP-3", "OP-3b", "| OP-3b | | Not yet: images. | is no row"),
        ("OP-3 | |", "OP-3 | one | other |", "| OP-3 | one | other | Not yet: images. | is no row"),
        ("| OP-3", " | OP-3", " | OP-3 | | Not yet: images. | is no row"),
        ("images. |", "images.", "| OP-3 | | Not yet: images. is no row"),
        (
            "| SM-1 | this | tested |\n| SM-2 | that | pending |",
            "| SM-2 | that | pending |\n| SM-1 | this | tested |", "SM-2 is not in its place"
        ),
        ("tested", "test:one", "SM-1 is neither tested nor has a reason: test:one"),
        ("tested", "tested<br>tested", "SM-1 is neither tested nor has a reason: tested<br>tested"),
        ("tested", "", "SM-1 is neither tested nor has a reason: "),
        ("tested", "Not yet: images.", "SM-1 is carried by a test, and no row of that ID says tested"),
        ("| SM-1 | this | tested |", "", "SM-1 is carried by a test, and no row of that ID says tested"),
        ("| this |", "| |", "SM-1 does not say what Dunlin does"),
        ("tested", "pending", "SM-1 is pending and not listed as such"),
        ("pending", "tested", "SM-2 is listed as pending and is not"),
        ("pending", "tested", "SM-2 says tested, and no test carries it"),
        ("Not yet: images.", "Not yet: ", "OP-3 does not say what Dunlin does"),
        ("Not yet: images.", "Later.", "OP-3 does not say what Dunlin does"),
    ]

    @Test func `a ledger with a row that is missing, made up, unproven or out of date does not pass`() {
        for (before, after, problem) in Self.spoilt {
            let text = before.isEmpty ? Self.good : Self.good.replacing(before, with: after)
            let problems = Ledger(text).problems(
                ids: ["SM-1", "SM-2", "OP-3"], carried: ["SM-1"], pending: ["SM-2"])
            if let problem {
                #expect(problems.contains(problem), "\(before) -> \(after): \(problems)")
            } else {
                #expect(problems.isEmpty)
            }
        }
    }
}
