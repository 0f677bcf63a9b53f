import Foundation

/// What a process has: the kernel's own count of it.
struct Belongings: CustomStringConvertible {
    /// What each descriptor leads to.
    var descriptors: [String]
    var threads: [String]
    var residentBytes: Int

    /// Pages that malloc keeps for later do not count against anybody, but there is a bound to that.
    static let allowedGrowth = 32 << 20
    /// The default pool makes and drops workers as it sees fit.
    private static let workers = 2 * ProcessInfo.processInfo.activeProcessorCount

    static func now() -> Belongings {
        Belongings(
            descriptors: names(in: "/proc/self/fd").compactMap(target).sorted(),
            threads: names(in: "/proc/self/task").compactMap { contents("/proc/self/task/\($0)/comm") }.sorted(),
            residentBytes: residentPages * Int(sysconf(Int32(_SC_PAGESIZE))))
    }

    /// What there is once the threads of earlier loops and servers have gone.
    static func settled() async -> Belongings {
        var current = now()
        for _ in 0..<100 where current.threads.contains(where: isOurs) {
            do { try await Task.sleep(for: .milliseconds(20)) } catch { break }
            current = now()
        }
        return current
    }

    /// Waits a while for what is on its way out, and tells the tally what is still there.
    static func compare(with baseline: Belongings, _ tally: Tally) async {
        let start = ContinuousClock.now
        var current = now()
        while !current.excess(over: baseline).isEmpty, ContinuousClock.now - start < .seconds(60) {
            do { try await Task.sleep(for: .milliseconds(50)) } catch { break }
            current = now()
        }
        tally.note("before: \(baseline)")
        tally.note("after:  \(current)")
        for excess in current.excess(over: baseline) { tally.violation("left behind: \(excess)") }
    }

    func excess(over baseline: Belongings) -> [String] {
        var excess: [String] = []
        if descriptors.count > baseline.descriptors.count {
            excess.append("descriptors \(Self.list(descriptors, without: baseline.descriptors))")
        }
        let ours = threads.filter(Self.isOurs), before = baseline.threads.filter(Self.isOurs)
        if ours.count > before.count { excess.append("threads \(Self.list(ours, without: before))") }
        if threads.count > baseline.threads.count + Self.workers { excess.append("threads \(threads)") }
        let growth = residentBytes - baseline.residentBytes
        if growth > Self.allowedGrowth { excess.append("\(growth >> 10) KiB of memory") }
        return excess
    }

    var description: String {
        let ours = threads.count(where: Self.isOurs)
        return "\(descriptors.count) descriptors, \(threads.count) threads (\(ours) of Dunlin's), "
            + "\(residentBytes >> 10) KiB resident"
    }

    /// Reactors, look-ups, and the loopback server. Those that look names up leave when they find nothing to do.
    private static func isOurs(_ thread: String) -> Bool {
        thread.hasPrefix("dunlin") || thread.hasPrefix("loopback")
    }

    private static func list(_ now: [String], without before: [String]) -> [String] {
        var left = before
        return now.filter { name in
            guard let known = left.firstIndex(of: name) else { return true }
            left.remove(at: known)
            return false
        }
    }

    private static func names(in folder: String) -> [String] {
        do { return try FileManager.default.contentsOfDirectory(atPath: folder) } catch { return [] }
    }

    /// Nil for the descriptor that the listing itself used.
    private static func target(_ descriptor: String) -> String? {
        do {
            let target = try FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/fd/\(descriptor)")
            return target.hasSuffix("/fd") ? nil : target
        } catch {
            return nil
        }
    }

    private static func contents(_ path: String) -> String? {
        do {
            return try String(contentsOfFile: path, encoding: .utf8).trimmingCharacters(in: .newlines)
        } catch {
            return nil
        }
    }

    private static var residentPages: Int {
        Int(contents("/proc/self/statm")?.split(separator: " ").dropFirst().first ?? "") ?? 0
    }
}
