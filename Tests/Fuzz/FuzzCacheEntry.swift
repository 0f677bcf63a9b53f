import DunlinCache
import DunlinSemantics
import DunlinTypes

/// Files of a cache, with the checksum as it comes and with the right one, and their entries alone. Whatever comes is
/// refused, or is what would be written: the same bytes, and a response whose head can be asked everything.
enum FuzzCacheEntry {
    private static let rules = CacheRules { _, _ in nil }

    static func violation(of input: [UInt8]) -> String? {
        for bytes in [input, CacheRecord.sealed(input)] {
            do throws(CacheRefusal) {
                let record = try CacheRecord(bytes, rules: rules)
                if record.encoded() != bytes { return "a record that is written otherwise" }
                for member in record.members {
                    if let violation = violation(of: member.entry) { return violation }
                    if let body = member.bytes, body.count != member.entry.body.range.count { return "another length" }
                }
            } catch {
                // Refused.
            }
        }
        do throws(CacheRefusal) {
            let entry = try CacheEntryCodec.entry(Bytes(input), rules: rules)
            if CacheEntryCodec.encoded(entry) != input { return "an entry that is written otherwise" }
            return violation(of: entry)
        } catch {
            return nil
        }
    }

    private static func violation(of entry: CacheEntry) -> String? {
        for now in [Int64.min, 0, entry.receivedAt, .max] {
            if entry.head(as: .whole, at: now).status != entry.status { return "another status" }
            if entry.freshness.isFresh(at: now), entry.freshness.lifetime <= 0 { return "fresh for no time" }
        }
        return entry.body.range.isEmpty && !entry.body.isWhole ? "a part of nothing" : nil
    }
}
