internal import DunlinTypes

/// The conditions and the range of a request (RFC 9110 §13 and §14), as far as a cache may judge them (RFC 9111
/// §4.3.2).
struct RequestConditions: Sendable {
    /// Whether only the origin can judge one of them: If-Match, If-Unmodified-Since, or an unreadable one.
    let areForOrigin: Bool
    private let tags: EntityTag.List
    /// The date; nil if If-None-Match is there, which comes first.
    private let date: HTTPDate?
    private let hasRange: Bool
    private let range: RangeField?
    private let ifRange: Bytes?
    /// Whether a request for a range accepts a content coding; without that, part of a coded body is useless.
    private let takesCodings: Bool

    init(_ fields: Fields) {
        // Most requests have none, and then the fields are looked through once for all of them.
        let haveSome = fields.haveName(beginningWith: "if-")
        tags = haveSome ? EntityTag.List(fields.rawValues(of: "if-none-match")) : .absent
        date =
            haveSome && tags == .absent ? fields.soleValue(of: "if-modified-since").flatMap { HTTPDate($0) } : nil
        areForOrigin =
            haveSome
            && (fields.contains("if-match") || fields.contains("if-unmodified-since") || tags == .unreadable)
        hasRange = fields.contains("range")
        range = hasRange ? RangeField(fields) : nil
        takesCodings =
            hasRange && fields.values(of: "accept-encoding").contains { $0.lowercased() != "identity" }
        ifRange = haveSome && fields.contains("if-range") ? fields.soleValue(of: "if-range") ?? .empty : nil
    }

    /// Whether the request is about something that the caller has, so that it expects a 304.
    var areOwn: Bool { tags != .absent || date != nil }

    /// Whether part of a representation is requested.
    var isForPart: Bool { hasRange }

    /// Returns what of the entry answers the request; nil if it cannot.
    func form(of entry: CacheEntry, for method: HTTP.Method) -> CachedForm? {
        if entry.status.isSuccess, areMet(by: entry) { return .notModified }
        if method == .head { return entry.body.isWhole ? .head : nil }
        guard hasRange, entry.status == .ok, isRangeWanted(of: entry), takesCodings || !entry.isCoded else {
            return entry.body.isWhole ? .whole : nil
        }
        guard let range = wanted(of: entry.body), entry.body.range.lowerBound <= range.lowerBound,
            range.upperBound <= entry.body.range.upperBound
        else { return nil }
        return .range(range, complete: entry.body.complete)
    }

    /// Whether the caller has the same state as this entry.
    func areMet(by entry: CacheEntry) -> Bool {
        switch tags {
        case .any: true
        case .tags(let tags): entry.entityTag.map { tag in tags.contains { $0.isWeaklyEqual(to: tag) } } ?? false
        case .absent: date.map { (entry.lastModified?.seconds ?? entry.date) <= $0.seconds } ?? false
        case .unreadable: false
        }
    }

    /// Whether the range applies: If-Range needs the same strong validator (RFC 9110 §13.1.5).
    private func isRangeWanted(of entry: CacheEntry) -> Bool {
        guard let ifRange else { return true }
        guard let wanted = Validator(String(ifRange)) else { return false }
        return wanted == entry.validator
    }

    private func wanted(of body: CachedBody) -> Range<Int>? {
        if let length = body.complete { return range?.range(of: length) }
        // If the end is unknown, only a range that does not depend on it can be served.
        guard case .from(let first, let last?) = range, last < Int.max else { return nil }
        return first..<last + 1
    }
}

extension CacheEntry {
    /// Whether the bytes have a content coding.
    fileprivate var isCoded: Bool {
        fields.values(of: "content-encoding").contains { $0.lowercased() != "identity" }
    }
}
