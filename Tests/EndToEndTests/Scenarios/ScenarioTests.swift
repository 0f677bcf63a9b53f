import Dunlin
import DunlinTesting
import Folders
import Foundation
import Testing

/// Everything that can be seen of a request from outside, held still in files: `Tests/Corpus/scenarios`. A change that
/// means to alter what is seen writes them anew with `RECORD_SCENARIOS=1 swift test --filter Scenario`, and the diff of
/// those files says what it altered.
@Suite(.timeLimit(.minutes(10))) struct `A scenario` {
    private static let folder = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent().appending(path: "Corpus/scenarios")
    private static let isRecording = ProcessInfo.processInfo.environment["RECORD_SCENARIOS"] != nil

    @Test(arguments: Scenario.all) func `a scenario shows what its file says, with observers and without`(
        scenario: Scenario
    ) async throws {
        var seen = ""
        for company in Company.allCases {
            let lines = try await Stage.$isSecure.withValue(scenario.isSecure) {
                try await Self.play(scenario, company)
            }
            seen += "## \(company.rawValue)\n" + lines.joined(separator: "\n") + "\n\n"
        }
        let file = Self.folder.appending(path: "\(scenario.name).txt")
        if Self.isRecording {
            try Data(seen.utf8).write(to: file)
            return
        }
        let expected = String(decoding: try Data(contentsOf: file), as: UTF8.self)
        #expect(seen == expected)
    }

    @Test(.enabled(if: !isRecording)) func `each scenario has a file, and each file a scenario`() throws {
        // The others are of recorded plays.
        let names = try FileManager.default.contentsOfDirectory(atPath: Self.folder.path).filter {
            $0.hasSuffix(".txt")
        }
        #expect(Set(names) == Set(Scenario.all.map { "\($0.name).txt" }))
        #expect(Scenario.all.count == names.count)
    }

    /// Every line that can be seen.
    private static func play(_ scenario: Scenario, _ company: Company) async throws -> [String] {
        let clock = ManualClock()
        let folder = try Folder()
        let proxy = try scenario.proxy?.start()
        defer { proxy?.stop() }
        var lines: [String] = []
        // Which connection a request gets is another matter with several loops.
        try await Stage.with(
            server: scenario.server, clock: scenario.hasManualClock ? clock : nil, oneLoop: true, tolerating: true
        ) {
            $0.fields = ["User-Agent": "dunlin", "Accept": "*/*", "Accept-Encoding": "gzip, deflate"]
            $0.random = { 0 }
            if let proxy, let setting = scenario.proxy?.setting(of: proxy) { $0.proxy = setting }
            scenario.configure(&$0)
            if company == .watched { $0.hooks = RecordingHooks.hooks() }
        } _: { stage in
            let names = [
                ("127.0.0.1:\(stage.server.port)", "SERVER"), ("localhost:\(stage.server.port)", "OTHER"),
                ("nowhere.test:\(stage.server.port)", "NOWHERE"), (folder.path, "FOLDER"),
                ("127.0.0.1:\(proxy?.port ?? 0)", "PROXY"),
            ]
            let transcript = Transcript(names, chancy: scenario.chancy, hasAttempts: scenario.hasAttempts)
            let events = company == .watched ? stage.session.events(bufferingNewest: 10_000) : nil
            try await RecordingHooks.$transcript.withValue(transcript) {
                try await scenario.play(
                    Scene(stage: stage, transcript: transcript, clock: clock, folder: folder, proxy: proxy))
            }
            await stage.session.shutdown()
            // The kernel may have connected what the server's thread has not accepted yet.
            let connected = transcript.connectionCount
            if proxy == nil { try await stage.server.wait { $0.accepted >= connected } }
            lines = ["# outcomes"] + transcript.outcomes
            if scenario.hasWire { lines += ["# wire"] + transcript.wire(of: stage.server) }
            lines.append("# connections: \(stage.server.connectionCount)")
            if let proxy { lines += ["# proxy"] + transcript.visits(of: proxy) }
            if events != nil || !transcript.hooks.isEmpty { lines += ["# hooks"] + transcript.hooks }
            guard let events else { return }
            lines.append("# events")
            lines += await transcript.texts(of: events)
        }
        return lines
    }
}
