import Children
import DunlinCache
import DunlinReactor
import DunlinTesting
import DunlinTypes
import Foundation
import Glibc

/// Processes that use one folder are killed, and what they leave is looked at: every response that is found is right,
/// what they did not touch is there, and nothing lies about that no head leads to.
///
/// Every second folder is so small that they throw out what others have stored. There nothing is expected to stay.
final class Kills {
    private static let stable = 6

    private let count: Int
    private let seed: UInt64
    private var dice: SeededGenerator
    private var found = 0
    private var violations = 0

    init(count: Int, seed: UInt64) {
        (self.count, self.seed, dice) = (count, seed, SeededGenerator(seed: seed))
    }

    func run() async -> Bool {
        for (name, capacity, count) in [("roomy", 64 << 20, (count + 1) / 2), ("narrow", 600_000, count / 2)] {
            let temporary = FileManager.default.temporaryDirectory
            let folder = temporary.appending(path: "dunlin-cache-kills-\(getpid())-\(name)").path
            do {
                if name == "roomy" { await begin(folder) }
                for _ in 0..<count {
                    try await kill(folder, capacity)
                    try await check(folder, capacity, isRoomy: name == "roomy")
                }
                try FileManager.default.removeItem(atPath: folder)
            } catch {
                violation("\(error)")
            }
        }
        print("\(count) kills of seed \(seed), \(found) responses found afterwards, \(violations) violations")
        // A storm in which nothing was ever stored has shown nothing.
        return violations == 0 && found > 0
    }

    private func violation(_ text: String) {
        violations += 1
        print("violation: \(text)")
    }

    private func open(_ folder: String, _ capacity: Int) async -> CacheStore {
        let store = CacheStore(
            CacheCapacity(memory: 0, disk: capacity, largestShare: 0.3), folder: CacheFolder(folder),
            rules: Responses.rules
        ) { [count] trouble in
            print("after one of \(count) kills: \(trouble)")
        }
        await store.backgroundEnded()
        return store
    }

    /// What nobody touches.
    private func begin(_ folder: String) async {
        let store = await open(folder, 64 << 20)
        for number in 0..<Self.stable {
            let (path, count) = ("s\(number)", number * 20_000)
            guard let writer = await store.writer(for: Responses.key(path), length: count) else {
                continue
            }
            await writer.write(Responses.body(path, seed: number, count: count))
            await writer.finish(as: Responses.entry(path, seed: number, count: count, age: 0), replacing: [])
        }
        await store.close()
    }

    /// One to three processes, at any moment, or before any of their calls.
    private func kill(_ folder: String, _ capacity: Int) async throws {
        let program = try FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")
        var children: [(child: Child, killsItself: Bool)] = []
        for _ in 0...dice.next(below: 3) {
            var words = ["work", folder, "\(capacity)", "\(dice.next(below: 1_000_000))"]
            let killsItself = dice.next(below: 2) == 0
            if killsItself { words.append("\(dice.next(below: 400))") }
            children.append((try Child(program, words, environment: Child.ownEnvironment), killsItself))
        }
        try await Task.sleep(for: .milliseconds(5 + dice.next(below: 60)))
        for (child, _) in children.filter({ !$0.killsItself }) { child.signal(SIGKILL) }
        for (child, _) in children {
            let end = await child.ended()
            if !end.wasKilled { violation("a process ended with \(end.status)") }
        }
    }

    private func check(_ folder: String, _ capacity: Int, isRoomy: Bool) async throws {
        let store = await open(folder, capacity)
        var (files, keys) = (0, 0)
        let paths = (0..<Self.stable).map { "s\($0)" } + (0..<Work.paths).map { "p\($0)" }
        for path in paths {
            let responses = await store.responses(for: Responses.key(path))
            found += responses.count
            if responses.isEmpty, isRoomy, path.hasPrefix("s") { violation("\(path) is lost") }
            for response in responses {
                if let fault = await Responses.fault(response, path) { violation(fault) }
                if response.body.bytes == nil { files += 1 }
            }
            if !responses.isEmpty { keys += 1 }
        }
        let names = try FileManager.default.contentsOfDirectory(atPath: folder).filter { !$0.hasSuffix("-lock") }
        if names.count != files + keys { violation("\(names.count) files for \(keys) heads and \(files) bodies") }
        if let disk = store.figures.disk, disk.bytes > capacity || disk.damages > 0 { violation("\(disk)") }
        await store.close()
    }
}
