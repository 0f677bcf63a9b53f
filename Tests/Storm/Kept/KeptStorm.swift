import Dunlin
import DunlinTesting
import Foundation

/// Several users' requests through all that keeps or shares answers, which say for whom, where and when they were made.
///
/// It goes in rounds. Between two, and in some, something changes: what was so at some moment of a round may be
/// answered in it.
struct KeptStorm: Sendable {
    private static let concurrency = 24
    private static let round = 80
    /// So many requests are made of the sessions of one world.
    private static let lifetime = 1600

    let count: Int
    let tally: Tally
    let watchdog: Watchdog

    func run() async throws {
        let loop = try PrivateLoop()
        let folder = NSTemporaryDirectory() + "dunlin-kept-\(ProcessInfo.processInfo.processIdentifier)"
        let files = KeptFiles(folder)
        for name in ["", "/cache", "/journal"] {
            let path = folder + name
            try FileManager.default.createDirectory(
                atPath: path, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
        }
        let server = try KeptServer(seed: tally.seed)
        for (index, start) in stride(from: 0, to: count, by: Self.lifetime).enumerated() {
            let end = min(start + Self.lifetime, count)
            let world = try KeptWorld(server, on: loop, folder: index.isMultiple(of: 2) ? "\(folder)/cache" : nil)
            watchdog.watch(world.sessions[0])
            for first in stride(from: start, to: end, by: Self.round) {
                try await rage(first..<min(first + Self.round, end), world, files)
            }
            for session in world.sessions {
                let left = await PromiseStorm.left(in: session)
                if !left.isEmpty { tally.violation("still in the registry: \(left)") }
            }
            await world.end()
        }
        server.stop()
        tally.note(server.counts)
        for failure in server.failures { tally.violation("the server complains: \(failure)") }
        try FileManager.default.removeItem(atPath: folder)
        do { try await loop.verifyNothingLeft(within: .seconds(60)) } catch { tally.violation("\(error)") }
    }

    private func call(_ number: Int) -> KeptCall { KeptCall(number, seed: tally.seed) }

    private func rage(_ numbers: Range<Int>, _ world: KeptWorld, _ files: KeptFiles) async throws {
        var dice = SeededGenerator(seed: tally.seed &+ 0xC4A6E &+ UInt64(numbers.lowerBound) &* 0x1_0000_0001)
        for _ in 0..<dice.next(below: 3) { try await world.change(&dice, near: call(numbers.lowerBound).resource) }
        world.beginRound()
        // Something changes at this call.
        let change = dice.next(below: 2 * numbers.count) + numbers.lowerBound
        let outcomes = try await withThrowingTaskGroup(of: [KeptOutcome].self) { group in
            var outcomes: [KeptOutcome] = []
            for number in numbers {
                if number - numbers.lowerBound >= Self.concurrency, let done = try await group.next() {
                    outcomes += done
                }
                if number == change { try await world.change(&dice, near: call(number).resource) }
                group.addTask {
                    await KeptRun(call: call(number), world: world, files: files).go()
                }
            }
            for try await done in group { outcomes += done }
            return outcomes
        }
        let judge = KeptJudge(world: world)
        for outcome in outcomes {
            tally.count(outcome.giver)
            guard let content = outcome.content, let complaint = judge.complaint(content, outcome) else {
                continue
            }
            let kind = "\(outcome.giver): \(complaint)"
            tally.violation("\(kind): request \(outcome.call) was given \(content)", of: kind)
        }
    }
}
