import FoundationEssentials
import Testing

/// What `A scenario` holds still over loopback, held still over the mock transport too, which is fast enough for every
/// pair of an answer and a setting, and for several callers and pictures: a file for each group. Both write their files
/// anew with `RECORD_SCENARIOS=1`.
@Suite(.timeLimit(.minutes(10))) struct `What sessions do, scenario by scenario` {
    private static let folder = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent().deletingLastPathComponent().appending(path: "Corpus/scenarios")
    private static let isRecording = ProcessInfo.processInfo.environment["RECORD_SCENARIOS"] != nil

    @Test(arguments: RecordedGroup.all) func `each scenario of a group shows what the group's file says`(
        group: RecordedGroup
    ) async throws {
        var records: [String: Record] = [:]
        for play in group.plays {
            #expect(records[play.name] == nil, "two scenarios are called \(play.name)")
            do { records[play.name] = try await Take.record(play) } catch {
                Issue.record("\(group): \(play.name): \(error)")
            }
        }
        let file = Self.folder.appending(path: "\(group).json")
        if Self.isRecording {
            let encoder = JSONEncoder()
            encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
            try (encoder.encode(records) + Data("\n".utf8)).write(to: file)
            return
        }
        let expected = try JSONDecoder().decode([String: Record].self, from: try Data(contentsOf: file))
        for name in Set(records.keys).union(expected.keys).sorted() {
            let differences = Self.differences(expected[name] ?? [:], records[name] ?? [:])
            if !differences.isEmpty {
                Issue.record("\(group): \(name)\n\(differences.joined(separator: "\n"))")
            }
        }
    }

    @Test func `each group has a file, and each file a group`() throws {
        let names = try FileManager.default.contentsOfDirectory(atPath: Self.folder.path).filter {
            $0.hasSuffix(".json")
        }
        #expect(Set(names) == Set(RecordedGroup.all.map { "\($0).json" }))
    }

    /// The lines that went and came, by their kind.
    private static func differences(_ expected: Record, _ seen: Record) -> [String] {
        Set(expected.keys).union(seen.keys).sorted().flatMap { kind -> [String] in
            let changes = (seen[kind] ?? []).difference(from: expected[kind] ?? [])
            return changes.map { change in
                switch change {
                case .remove(let line, let text, _): "\(kind), line \(line + 1) - \(text)"
                case .insert(let line, let text, _): "\(kind), line \(line + 1) + \(text)"
                }
            }
        }
    }
}
