package import DunlinTypes

/// How long a response is fresh, and how old it is (RFC 9111 §4.2).
///
/// Times are seconds since 1970 by the cache's own clock, sums are clamped. All is rounded so that a response is never
/// fresh for longer than it says.
package struct Freshness: Sendable, Equatable {
    /// The seconds for which the response is fresh.
    package let lifetime: Int64
    /// Whether the lifetime is only derived from the last change.
    let isHeuristic: Bool
    /// The response's age when it came.
    let initialAge: Int64
    /// When the response came.
    package let receivedAt: Int64

    /// Computes freshness; `sentAt` and `receivedAt` are the times of the request and the response, `date` is what the
    /// Date field says, and `changed` what Last-Modified does.
    init(
        _ fields: Fields, _ directives: ResponseDirectives, _ status: HTTP.Status, at date: Int64?,
        changed: HTTPDate?, sentAt: Int64, receivedAt: Int64, _ rules: CacheRules
    ) {
        initialAge = Self.initialAge(fields, at: date, sentAt: sentAt, receivedAt: receivedAt)
        self.receivedAt = receivedAt
        if let said = Self.said(fields, directives, receivedAt: receivedAt) {
            (lifetime, isHeuristic) = (said, false)
        } else if let unsaid = rules.unsaidLifetime {
            (lifetime, isHeuristic) = (unsaid, false)
        } else if status.isHeuristicallyCacheable || directives.isPublic {
            (lifetime, isHeuristic) = (Self.guess(changed, at: date ?? receivedAt, rules), true)
        } else {
            (lifetime, isHeuristic) = (0, false)
        }
    }

    /// Returns the explicit lifetime in seconds; nil if there is none.
    package static func said(_ fields: Fields, _ directives: ResponseDirectives, receivedAt: Int64) -> Int64? {
        if let maxAge = directives.maxAge { return maxAge }
        guard fields.contains("expires") else { return nil }
        let end = fields.soleValue(of: "expires").flatMap { HTTPDate(forgiving: $0) }
        return max(0, end?.seconds.subtractingClamped(date(fields) ?? receivedAt) ?? 0)
    }

    /// Returns the response's age when it came.
    static func initialAge(_ fields: Fields, sentAt: Int64, receivedAt: Int64) -> Int64 {
        initialAge(fields, at: date(fields), sentAt: sentAt, receivedAt: receivedAt)
    }

    private static func initialAge(_ fields: Fields, at date: Int64?, sentAt: Int64, receivedAt: Int64) -> Int64 {
        let apparent = max(0, receivedAt.subtractingClamped(date ?? receivedAt))
        let delay = max(0, receivedAt.subtractingClamped(sentAt))
        return max(apparent, (age(fields) ?? 0).addingClamped(delay))
    }

    /// Returns the date; nil unless there is exactly one valid one.
    static func date(_ fields: Fields) -> Int64? {
        fields.soleValue(of: "date").flatMap { HTTPDate(forgiving: $0) }?.seconds
    }

    /// Returns the first member of the first field; nil if it is no number (§5.1).
    static func age(_ fields: Fields) -> Int64? {
        guard let value = fields[bytes: "age"] else { return nil }
        let first = value.prefix { $0 != UInt8(ascii: ",") }
        let text = first.drop { isBlank($0) }
        guard let end = text.lastIndex(where: { !isBlank($0) }) else { return nil }
        return DeltaSeconds.value(of: text[...end])
    }

    private static func isBlank(_ byte: UInt8) -> Bool { byte == 0x20 || byte == 0x09 }

    /// Returns a tenth of the time since the last change, within a limit; zero without such a date.
    private static func guess(_ changed: HTTPDate?, at date: Int64, _ rules: CacheRules) -> Int64 {
        guard let changed else { return 0 }
        let unchanged = max(0, date.subtractingClamped(changed.seconds))
        return min(unchanged / max(1, rules.heuristicDivisor), rules.heuristicLimit)
    }
}

extension Freshness {
    package func age(at now: Int64) -> Int64 {
        initialAge.addingClamped(max(0, now.subtractingClamped(receivedAt)))
    }

    /// Returns the seconds until it is stale; below zero once it is.
    package func remaining(at now: Int64) -> Int64 {
        lifetime.subtractingClamped(age(at: now))
    }

    /// Whether it is fresh. If the clock was set back its age is unknown, so it counts as stale.
    package func isFresh(at now: Int64) -> Bool {
        now >= receivedAt && remaining(at: now) > 0
    }

    /// Returns for how long it has been stale.
    func staleness(at now: Int64) -> Int64 {
        now < receivedAt ? .max : max(0, age(at: now).subtractingClamped(lifetime))
    }
}
