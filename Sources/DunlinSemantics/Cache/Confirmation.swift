internal import DunlinTypes

/// Decides which stored responses a newer head confirms (RFC 9111 §4.3.4 and §4.3.5).
enum Confirmation {
    /// Returns whether a 304 with these fields names the entry by its validators; nil if it has none.
    ///
    /// A strong tag must be the same. Without one a weak tag must be, and without a tag the date.
    static func names(_ entry: CacheEntry, in fields: Fields) -> Bool? {
        if fields.contains("etag") {
            guard let tag = fields.soleValue(of: "etag").flatMap({ EntityTag(forgiving: $0) }),
                let own = entry.entityTag
            else {
                return false
            }
            return tag.isWeak ? tag.isWeaklyEqual(to: own) : tag.isStronglyEqual(to: own)
        }
        guard fields.contains("last-modified") else { return nil }
        let date = fields.soleValue(of: "last-modified").flatMap { HTTPDate(forgiving: $0) }
        return date != nil && date == entry.lastModified
    }

    /// Whether the answer to a HEAD agrees with the stored response.
    static func agrees(_ entry: CacheEntry, with fields: Fields) -> Bool {
        for name in ["etag", "last-modified"] where fields.contains(name) {
            guard fields.soleValue(of: name) == entry.fields.soleValue(of: name) else { return false }
        }
        guard fields.contains("content-length"), let length = entry.body.complete else { return true }
        return fields.soleValue(of: "content-length").flatMap { DeltaSeconds.value(of: $0) } == Int64(length)
    }
}
