import FoundationEssentials
import Testing

@Suite struct `Docs/AFNetworking.md` {
    /// Rows whose code is there or on its way, and whose test is still to be named in the file. None when all is done.
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

    /// The name of every test function in the sources. A helper with a name like a test's proves nothing.
    private static func tests() throws -> Set<String> {
        let folder = package.appending(path: "Tests").path
        let files = try FileManager.default.subpathsOfDirectory(atPath: folder).filter { $0.hasSuffix(".swift") }
        var names: Set<String> = []
        for file in files {
            var isTest = false
            for line in try text("Tests/\(file)").split(separator: "\n") {
                if line.contains("@Test") { isTest = true }
                guard let start = line.firstRange(of: "func ")?.upperBound else { continue }
                let name = line[start...]
                if isTest, name.hasPrefix("`") { names.insert(String(name.dropFirst().prefix { $0 != "`" })) }
                isTest = false
            }
        }
        return names
    }

    @Test func `has every row once, with a test that exists or a reason`() throws {
        let ids = try Self.ids()
        #expect(ids.count == 493 && Set(ids).count == ids.count)
        let tests = try Self.tests()
        #expect(tests.count > 500)
        let problems = Ledger(try Self.text("Docs/AFNetworking.md"))
            .problems(ids: ids, tests: tests, pending: Self.pending)
        #expect(problems.isEmpty, "\(problems.joined(separator: "\n"))")
    }

    private static let good = """
        | ID | What Dunlin does | Test, or why not |
        |---|---|---|
        | SM-1 | this | test:one<br>test:the other |
        | SM-2 | that | pending |
        | OP-3 | | Not yet: images. |
        """

    /// What is done to a good file, and what is said of it then.
    private static let spoilt: [(String, String, String?)] = [
        ("", "", nil),
        ("| SM-1 | this | test:one<br>test:the other |", "", "SM-1 is missing"),
        ("| SM-2 | that", "| SM-1 | that", "SM-1 stands here 2 times"),
        ("OP-3", "OP-4", "OP-4 is no row of AFNetworking's"),
        ("OP-3", "OP-4", "OP-3 is missing"),
        ("OP-3", "OP-3b", "| OP-3b | | Not yet: images. | is no row"),
        ("OP-3 | |", "OP-3 | one | other |", "| OP-3 | one | other | Not yet: images. | is no row"),
        ("| OP-3", " | OP-3", " | OP-3 | | Not yet: images. | is no row"),
        ("images. |", "images.", "| OP-3 | | Not yet: images. is no row"),
        (
            "| SM-1 | this | test:one<br>test:the other |\n| SM-2 | that | pending |",
            "| SM-2 | that | pending |\n| SM-1 | this | test:one<br>test:the other |", "SM-2 is not in its place"
        ),
        ("test:one", "test:none", "SM-1 names a test that does not exist: none"),
        ("test:the other", "the other", "SM-1 has neither a test nor a reason: test:one<br>the other"),
        ("test:one<br>test:the other", "", "SM-1 has neither a test nor a reason: "),
        ("| this |", "| |", "SM-1 does not say what Dunlin does"),
        ("test:one<br>test:the other", "pending", "SM-1 is pending and not listed as such"),
        ("pending", "test:one", "SM-2 is listed as pending and is not"),
        ("Not yet: images.", "Not yet: ", "OP-3 does not say what Dunlin does"),
        ("Not yet: images.", "Later.", "OP-3 does not say what Dunlin does"),
    ]

    @Test func `is not passed with a row that is missing, made up, unproven or out of date`() {
        for (before, after, problem) in Self.spoilt {
            let text = before.isEmpty ? Self.good : Self.good.replacing(before, with: after)
            let problems = Ledger(text).problems(
                ids: ["SM-1", "SM-2", "OP-3"], tests: ["one", "the other"], pending: ["SM-2"])
            if let problem {
                #expect(problems.contains(problem), "\(before) -> \(after): \(problems)")
            } else {
                #expect(problems.isEmpty)
            }
        }
    }
}
