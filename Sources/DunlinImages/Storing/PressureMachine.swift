/// Decides from successive readings of the kernel's files how short memory is.
///
/// Only the best available source counts. A trigger (PSI) tells that work had to wait for memory since the last look.
/// If the kernel grants none, the control group's files tell how often it reached `memory.high` and `memory.max`, and
/// how much of them it uses, without what the kernel could drop at once. Without a control group, the machine's
/// averages count.
struct PressureMachine {
    /// The result of one look; nil for what cannot be read.
    struct Reading {
        /// Whether the triggers for "some" and "full" have fired; nil without triggers.
        var triggers: (some: Bool, full: Bool)?
        /// The contents of `memory.events`, `memory.current`, `memory.stat`, `memory.high` and `memory.max`.
        var events: String?
        var current: String?
        var stat: String?
        var high: String?
        var max: String?
        /// The contents of `/proc/pressure/memory`.
        var averages: String?
    }

    /// The percentages of a limit at which memory is short, and very short.
    private static let levels = (some: 90, critical: 97)
    /// The percentages of the last ten seconds in which some work, or all, waited for memory.
    private static let waits = (some: 10.0, full: 10.0)

    private var counts: (high: Int, beyond: Int)?

    /// How short memory is now; nil if it is not.
    mutating func take(_ reading: Reading) -> MemoryPressure? {
        if let triggers = reading.triggers {
            return triggers.full ? .critical : triggers.some ? .some : nil
        }
        if reading.events != nil || reading.current != nil {
            return worse(events(reading.events), Self.usage(reading))
        }
        return reading.averages.flatMap(Self.averages)
    }

    private func worse(_ one: MemoryPressure?, _ other: MemoryPressure?) -> MemoryPressure? {
        one == .critical || other == .critical ? .critical : one ?? other
    }

    /// What happened since the last look. Events before the first look are ignored.
    private mutating func events(_ text: String?) -> MemoryPressure? {
        guard let text else { return nil }
        let reached = (Self.number("high", in: text) ?? 0) + (Self.number("max", in: text) ?? 0)
        let killed = (Self.number("oom", in: text) ?? 0) + (Self.number("oom_kill", in: text) ?? 0)
        defer { counts = (reached, killed) }
        guard let counts else { return nil }
        // Merely reading files can also reach a limit.
        return killed > counts.beyond ? .critical : reached > counts.high ? .some : nil
    }

    private static func usage(_ reading: Reading) -> MemoryPressure? {
        guard let current = number(reading.current) else { return nil }
        // The kernel drops unused file pages before it makes anybody wait.
        let idle = reading.stat.flatMap { number("inactive_file", in: $0) } ?? 0
        let limits = [number(reading.high), number(reading.max)].compactMap(\.self).filter { $0 > 0 }
        guard let limit = limits.min() else { return nil }
        let share = Double(max(0, current - idle)) / Double(limit) * 100
        return share >= Double(levels.critical) ? .critical : share >= Double(levels.some) ? .some : nil
    }

    /// Parses `some avg10=0.00 avg60=0.00 avg300=0.00 total=0`, and a line for `full`.
    private static func averages(_ text: String) -> MemoryPressure? {
        var shares: [Substring: Double] = [:]
        for line in text.split(separator: "\n") {
            let words = line.split(separator: " ")
            guard let name = words.first, let average = words.first(where: { $0.hasPrefix("avg10=") }) else { continue }
            shares[name] = Double(average.dropFirst("avg10=".count))
        }
        if shares["full", default: 0] >= waits.full { return .critical }
        return shares["some", default: 0] >= waits.some ? .some : nil
    }

    /// The number after a name at the beginning of a line.
    private static func number(_ name: String, in text: String) -> Int? {
        for line in text.split(separator: "\n") {
            let words = line.split(separator: " ")
            if words.count == 2, words[0] == name { return Int(words[1]) }
        }
        return nil
    }

    /// A number; nil for `max`, which means no limit.
    private static func number(_ text: String?) -> Int? {
        text.flatMap { Int($0.prefix { $0 != "\n" }) }
    }
}

/// The process's control group.
enum ControlGroup {
    /// The folder of its files, from `/proc/self/cgroup`; nil without a control group of version 2.
    static func folder(_ text: String) -> String? {
        for line in text.split(separator: "\n") where line.hasPrefix("0::/") {
            let path = line.dropFirst("0::".count)
            // The group was deleted, or is outside what the process may see.
            if path.hasSuffix(" (deleted)") || path.contains("..") { return nil }
            return path == "/" ? "/sys/fs/cgroup" : "/sys/fs/cgroup" + path
        }
        return nil
    }
}
