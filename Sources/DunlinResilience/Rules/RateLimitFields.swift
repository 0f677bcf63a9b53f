internal import DunlinSemantics
package import DunlinTypes

/// What the fields of a response say of a server's limit on requests.
///
/// The IETF's drafts of "RateLimit header fields for HTTP" (draft-ietf-httpapi-ratelimit-headers) have published three
/// shapes. The newest that a response has, and that says how much remains, counts; then the fields that were usual
/// before:
/// 1. `RateLimit: "name";r=50;t=30`, with `RateLimit-Policy: "name";q=100;w=60` (since draft 08)
/// 2. `RateLimit: limit=100, remaining=50, reset=30`, with `RateLimit-Policy: 100;w=60` (draft 07)
/// 3. `RateLimit-Limit: 100`, or `100, 100;w=60`, with `RateLimit-Remaining` and `RateLimit-Reset` (drafts 00 to 06)
/// 4. `X-RateLimit-Limit`, `-Remaining` and `-Reset`; also with `-Requests` behind each
///
/// Of several limits in one field the one with the fewest requests left counts, and of those the one that is reset
/// last. Limits on anything but requests do not count, nor does a limit that says more remains than it allows. How long
/// the server asks to be left alone, `Retry-After` says, besides.
package enum RateLimitFields {
    private static let separate = [
        ("ratelimit-limit", "ratelimit-remaining", "ratelimit-reset"),
        ("x-ratelimit-limit", "x-ratelimit-remaining", "x-ratelimit-reset"),
        ("x-ratelimit-limit-requests", "x-ratelimit-remaining-requests", "x-ratelimit-reset-requests"),
    ]

    /// The limit; nil if the fields say nothing. `now`: this machine's clock, since 1970.
    package static func limit(_ fields: Fields, at now: Int64) -> LearnedLimit? {
        guard maySayMore(fields) else { return nil }
        let silence = RetryAfter.wait(fields, at: now)
        var limit = named(fields)
        for names in separate where limit == nil { limit = limited(fields, names, at: now) }
        if limit == nil, silence == nil { return nil }
        limit = limit ?? LearnedLimit()
        limit?.silence = silence
        return limit
    }

    /// Whether a name begins like those that say something of a limit, with R or X: most responses have none, and each
    /// name that is looked for costs a walk over all.
    private static func maySayMore(_ fields: Fields) -> Bool {
        fields.entries.contains { entry in
            let first = fields.bytes[Int(entry.nameStart)] | 0x20
            return first == UInt8(ascii: "r") || first == UInt8(ascii: "x")
        }
    }

    private static func named(_ fields: Fields) -> LearnedLimit? {
        let values = fields.rawValues(of: "ratelimit")
        if values.isEmpty { return nil }
        let policies = policies(fields.rawValues(of: "ratelimit-policy"))
        var reader = StructuredReader(values)
        if let members = reader.list() {
            return members.compactMap { limit(of: $0, policies) }.min { fewest($0) < fewest($1) }
        }
        reader = StructuredReader(values)
        guard let members = reader.dictionary() else { return nil }
        let quota = count(members["limit"])
        return checked(
            LearnedLimit(
                quota: quota, window: policies.first { quota != nil && count($0.value) == quota }.flatMap(window),
                remaining: count(members["remaining"]), reset: seconds(members["reset"])))
    }

    /// The limit of one member of the newest shape.
    private static func limit(of member: StructuredReader.Member, _ policies: [StructuredReader.Member])
        -> LearnedLimit?
    {
        guard case .text = member.value else { return nil }
        let policy = policies.first { $0.value == member.value }
        if let unit = policy?.parameters["qu"], unit != .text("requests") { return nil }
        let window = policy.flatMap(window)
        return checked(
            LearnedLimit(
                quota: count(policy?.parameters["q"]), window: window, remaining: count(member.parameters["r"]),
                reset: seconds(member.parameters["t"]) ?? window))
    }

    private static func limited(
        _ fields: Fields, _ names: (limit: String, remaining: String, reset: String), at now: Int64
    ) -> LearnedLimit? {
        guard let remaining = fields.soleValue(of: names.remaining) else { return nil }
        let sent = fields.soleValue(of: "date").flatMap { HTTPDate($0) }?.seconds ?? now
        let members = policies(fields.rawValues(of: names.limit))
        let quota = count(members.first?.value)
        let policy = members.dropFirst().first { quota != nil && count($0.value) == quota }
        return checked(
            LearnedLimit(
                quota: quota, window: policy.flatMap(window), remaining: count(policies([remaining]).first?.value),
                reset: fields.soleValue(of: names.reset).flatMap { ResetTime.distance($0, at: sent) }))
    }
}

extension RateLimitFields {
    /// The members of a list; none if it is malformed.
    private static func policies(_ values: [Bytes]) -> [StructuredReader.Member] {
        var reader = StructuredReader(values)
        return reader.list() ?? []
    }

    private static func window(_ policy: StructuredReader.Member) -> Duration? {
        seconds(policy.parameters["w"] ?? policy.parameters["window"])
    }

    private static func count(_ value: StructuredReader.Value?) -> Int? {
        guard case .integer(let number) = value, number >= 0 else { return nil }
        return Int(number)
    }

    private static func seconds(_ value: StructuredReader.Value?) -> Duration? {
        count(value).flatMap { $0 > 0 ? .seconds($0) : nil }
    }

    private static func fewest(_ limit: LearnedLimit) -> (Int, Duration) {
        (limit.remaining ?? .max, .zero - (limit.reset ?? .zero))
    }

    /// The limit, if it says how much remains, and no more than it allows.
    private static func checked(_ limit: LearnedLimit) -> LearnedLimit? {
        guard let remaining = limit.remaining, remaining <= limit.quota ?? .max else { return nil }
        return limit
    }
}
