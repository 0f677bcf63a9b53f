import DunlinResilience
import DunlinSemantics
import DunlinTypes

/// Fields that say what a server's limit is, one a line: the newest, its policy, what remains and the reset of the
/// older ones, and Retry-After. Whatever comes, what is read can be true, is read the same when it is written again,
/// and delays nobody for more than two hours. A list that is read is the same when it is written again.
enum FuzzLimits {
    private static let names = [
        "ratelimit", "ratelimit-policy", "x-ratelimit-remaining", "x-ratelimit-reset", "retry-after-ms",
    ]
    private static let now: Int64 = 1_700_000_000
    private static let longest: Duration = .seconds(7200)

    static func violation(of input: [UInt8]) -> String? {
        var fields = Fields()
        for (name, line) in zip(names, input.split(separator: 0x0A, omittingEmptySubsequences: false)) {
            if !line.isEmpty { fields.append(name: name, rawValue: Bytes(Array(line))) }
            if let violation = listViolation(Bytes(Array(line))) { return violation }
        }
        guard let limit = RateLimitFields.limit(fields, at: now) else { return nil }
        return impossible(limit) ?? writtenViolation(limit) ?? delayViolation(limit)
    }

    private static func impossible(_ limit: LearnedLimit) -> String? {
        if let remaining = limit.remaining, !(0...(limit.quota ?? .max) ~= remaining) { return "more than there is" }
        if limit.remaining == nil, limit.silence == nil { return "a limit that says nothing" }
        if [limit.window, limit.reset].contains(where: { $0.map { $0 <= .zero } ?? false }) { return "a past time" }
        return nil
    }

    private static func writtenViolation(_ limit: LearnedLimit) -> String? {
        guard let remaining = limit.remaining else { return nil }
        var fields: Fields = ["RateLimit-Remaining": "\(remaining)"]
        if let reset = limit.reset { fields["RateLimit-Reset"] = "\(reset.clampedNanoseconds)ns" }
        if let quota = limit.quota {
            let window = limit.window.map { ", \(quota);w=\($0.components.seconds)" } ?? ""
            fields["RateLimit-Limit"] = "\(quota)\(window)"
        }
        guard let again = RateLimitFields.limit(fields, at: now) else { return "no limit the second time" }
        // A double holds a time of up to a hundred days to the nanosecond.
        let resets = [again.reset, limit.reset].map { min($0 ?? .zero, .seconds(8_640_000)).clampedNanoseconds }
        let differs = abs(resets[0] - resets[1]) > 1
        return differs || again.remaining != remaining || again.quota != limit.quota ? "another limit" : nil
    }

    private static func delayViolation(_ limit: LearnedLimit) -> String? {
        var machine = RateMachine(RateRules(requests: .max, longestWait: longest))
        let start = HTTP.Instant(nanoseconds: 0)
        for chance in [UInt64.min, .max] { machine.learned(limit, chance: chance, at: start) }
        return machine.time(at: start) <= start.advanced(by: longest) ? nil : "a delay too long"
    }

    private static func listViolation(_ value: Bytes) -> String? {
        var reader = StructuredReader([value])
        // What is not kept cannot be written.
        guard let members = reader.list(), !members.contains(where: { $0.value == .other }) else { return nil }
        let kept = members.map { member in
            StructuredReader.Member(value: member.value, parameters: member.parameters.filter { $0.value != .other })
        }
        let text = kept.map { member in
            written(member.value) + member.parameters.map { ";\($0)=\(written($1))" }.joined()
        }
        var again = StructuredReader(text.map { Bytes($0) })
        return again.list() == kept ? nil : "another list"
    }

    private static func written(_ value: StructuredReader.Value) -> String {
        switch value {
        case .bytes(let bytes): ":\(Base64.encode(Bytes(bytes))):"
        case .integer(let number): "\(number)"
        case .text(let text): "\"\(text.map { "\"\\".contains($0) ? "\\\($0)" : "\($0)" }.joined())\""
        case .other: "?1"
        }
    }
}
