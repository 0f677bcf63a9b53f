import Dunlin
import DunlinCommandLine
import DunlinTesting
import Foundation
import Testing

/// The page of everyday jobs, done: each line of it is run as it stands there, against servers of this machine.
@Suite(.timeLimit(.minutes(10))) struct JobTests {
    private static let everyday = Result { try Job.jobs(below: "Thirty everyday jobs") }
    private static let rare = Result { try Job.jobs(below: "Less often") }

    static var jobs: [Job] {
        get throws { try everyday.get() + rare.get() }
    }

    @Test func `the page has thirty jobs, and each job a check`() throws {
        #expect(try Self.everyday.get().count == 30)
        #expect(try Self.jobs.map(\.name).sorted() == JobCheck.all.keys.sorted())
        for job in try Self.jobs { #expect(job.line(of: .dunlin)?.contains("dunlin ") == true, "\(job)") }
    }

    @Test(arguments: try Self.jobs) func `dunlin does each job as the page says`(job: Job) async throws {
        try await Self.attempt(job, .dunlin)
    }

    @Test(.enabled(if: JobSite.has("curl")), arguments: try Self.jobs) func `curl does what the page says of it`(
        job: Job
    ) async throws {
        try await Self.attempt(job, .curl)
    }

    @Test(.enabled(if: JobSite.has("http")), arguments: try Self.jobs) func `HTTPie does what the page says of it`(
        job: Job
    ) async throws {
        try await Self.attempt(job, .httpie)
    }

    private static func attempt(_ job: Job, _ tool: Tool) async throws {
        guard let line = job.line(of: tool), let check = JobCheck.all[job.name] else { return }
        if line.contains("jq "), !JobSite.has("jq") { return }
        let site = try JobSite()
        var run = try await site.run(line, of: tool, isKilled: check.isKilled)
        // --json is younger than some curls.
        if tool == .curl, run.status == 2, run.remarked.contains("is unknown") { return }
        for _ in 1..<check.runs { run = try await site.run(line, of: tool) }
        #expect(check.holds(run), "\(line)\n\(run.story)")
        if tool == .dunlin {
            #expect(run.status == check.code, "\(line)\n\(run.story)")
        } else if check.code == 0 {
            #expect(run.status == 0, "\(line)\n\(run.story)")
        }
        #expect(site.server.failures.isEmpty, "\(line)\n\(site.server.failures)")
    }

    @Test func `the page has every exit code with its meaning`() throws {
        let rows = try String(contentsOf: Job.page, encoding: .utf8).split(separator: "\n")
        for code in ExitCode.allCases {
            #expect(rows.contains("| \(code.rawValue) | \(code.meaning) |"), "\(code)")
        }
    }
}
