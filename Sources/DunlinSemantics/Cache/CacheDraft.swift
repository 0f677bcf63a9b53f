internal import DunlinTypes

/// A response that is being stored while its body arrives: its head, and what its body should be. It becomes an entry
/// when the body ends, unless the body has the wrong length.
package struct CacheDraft: Sendable {
    /// The bytes of the representation that the body has.
    struct Extent: Sendable, Hashable {
        /// The offset of the first byte.
        let start: Int
        /// The number of bytes, if the head says it.
        let count: Int?
        /// The length of the representation, if the head says so.
        let complete: Int?

        /// Reads a head; nil for a 206 with several parts or other units, and for contradictory lengths.
        init?(_ head: ResponseHead) {
            let hasLength = head.fields.contains("content-length")
            let length = head.fields.soleValue(of: "content-length").flatMap { DeltaSeconds.value(of: $0) }
            guard !hasLength || length != nil, length.map({ $0 < Int64(Int.max) }) ?? true else { return nil }
            let count = length.map { Int($0) }
            guard head.status == .partialContent else {
                (start, self.count, complete) = (0, count, count)
                return
            }
            guard case .part(let range, let whole) = ContentRange(head.fields), count == nil || count == range.count
            else { return nil }
            (start, self.count, complete) = (range.lowerBound, range.count, whole)
        }
    }

    /// The entry without its body.
    package let entry: CacheEntry
    let extent: Extent
    let rules: CacheRules
    /// The bytes that are stored already, directly before or around the new ones.
    private(set) var joined: CachedBody?

    init(entry: CacheEntry, extent: Extent, rules: CacheRules) {
        self.entry = entry
        self.extent = extent
        self.rules = rules
    }

    /// The length of the body, if its head says it.
    package var expectedCount: Int? { extent.count }

    /// The offset of this body's first byte in the representation.
    package var start: Int { extent.start }

    /// Returns the draft joined to stored bytes that it touches; `entry` has the fields of both.
    func joining(_ stored: CachedBody, as entry: CacheEntry) -> CacheDraft {
        var draft = CacheDraft(entry: entry, extent: extent, rules: rules)
        draft.joined = stored
        return draft
    }

    /// Whether both together are one range of one representation.
    func touches(_ body: CachedBody) -> Bool {
        guard let count = extent.count,
            body.complete == nil || extent.complete == nil
                || body.complete == extent.complete
        else { return false }
        return extent.start <= body.range.upperBound && body.range.lowerBound <= extent.start + count
    }

    /// Returns the entry, once `count` bytes of the body have come and no more will; nil if they are not worth keeping.
    ///
    /// `isComplete` says whether the body ended as its framing has it. One that broke off is kept as a part if the rest
    /// can be asked for: by a strong validator, from an origin that has not said it knows no ranges.
    package func ended(count: Int, isComplete: Bool) -> CacheEntry? {
        guard isComplete, extent.count == nil || extent.count == count else {
            return isComplete ? nil : unfinished(count: count)
        }
        let (end, overflow) = extent.start.addingReportingOverflow(count)
        guard !overflow else { return nil }
        // A body without a declared length has the length that came.
        return entry(with: extent.start..<end, complete: complete ?? (isWholeResponse ? end : nil))
    }

    private var complete: Int? { extent.complete ?? joined?.complete }

    private var isWholeResponse: Bool { extent.start == 0 && extent.count == extent.complete }

    private func unfinished(count: Int) -> CacheEntry? {
        guard count > 0 || joined != nil, entry.status == .ok, entry.method == .get, entry.validator != nil,
            AcceptRanges(entry.fields) != .none, extent.count.map({ count < $0 }) ?? true
        else { return nil }
        let (end, overflow) = extent.start.addingReportingOverflow(count)
        return overflow ? nil : entry(with: extent.start..<end, complete: complete)
    }

    private func entry(with range: Range<Int>, complete: Int?) -> CacheEntry? {
        let all = joined.map { Self.union($0.range, range) } ?? range
        let body = CachedBody.of(all, complete: complete)
        // An empty part is not kept.
        return all.isEmpty && !body.isWhole ? nil : entry.with(body: body)
    }

    /// Returns the joined range. The stored one is unchanged if the new one does not reach it, which would leave a
    /// hole.
    private static func union(_ stored: Range<Int>, _ range: Range<Int>) -> Range<Int> {
        guard range.lowerBound <= stored.upperBound, stored.lowerBound <= range.upperBound else { return stored }
        return min(stored.lowerBound, range.lowerBound)..<max(stored.upperBound, range.upperBound)
    }
}
