package import DunlinSemantics
package import DunlinTypes

/// Writes a stored entry as bytes, and reads it back.
///
/// An entry has exactly one form: numbers have fixed widths, little-endian, nothing is optional, and the order is
/// fixed. So whatever is read is what would be written, and all else is refused. A value that would be refused is not
/// written either.
package enum CacheEntryCodec {
    /// The limits, beyond which nothing is stored: heads that came over the wire are far shorter.
    enum Limit {
        static let key = 64 << 10
        static let method = 64
        static let selecting = 256
        static let fields = 4096
        static let text = 1 << 20
        static let hash = 64
        static let terms = 4096
        /// The end of the year 9999.
        static let time: Int64 = 253_402_300_799
        static let length = 1 << 50
    }

    // MARK: - Writing

    /// Returns the bytes of an entry; nil if it is beyond the limits.
    package static func encoded(_ entry: CacheEntry) -> [UInt8]? {
        guard isWithinLimits(entry) else { return nil }
        var bytes: [UInt8] = []
        let key = entry.key.text.utf8
        bytes.reserveCapacity(128 + key.count + entry.fields.bytes.count + 8 * entry.fields.count)
        bytes.append(number: UInt32(key.count))
        bytes += key
        bytes.append(number: UInt8(entry.method.rawValue.utf8.count))
        bytes += entry.method.rawValue.utf8
        bytes.append(number: UInt16(clamping: entry.status.code))
        bytes.append(number: entry.sentAt)
        bytes.append(number: entry.receivedAt)
        bytes.append(flag: entry.isDoubtful)
        bytes.append(number: UInt8((entry.wasNamed ? 1 : 0) + (entry.hasEverybodysBody ? 2 : 0)))
        append(entry.body, to: &bytes)
        append(entry.selecting, to: &bytes)
        append(entry.owner, to: &bytes)
        append(entry.fields, to: &bytes)
        return bytes
    }

    private static func append(_ body: CachedBody, to bytes: inout [UInt8]) {
        bytes.append(flag: !body.isWhole)
        if !body.isWhole { bytes.append(number: UInt64(body.range.lowerBound)) }
        bytes.append(number: UInt64(body.range.upperBound))
        if body.isWhole { return }
        bytes.append(flag: body.complete != nil)
        if let complete = body.complete { bytes.append(number: UInt64(complete)) }
    }

    private static func append(_ selecting: SelectingFields, to bytes: inout [UInt8]) {
        bytes.append(number: UInt16(selecting.members.count))
        for member in selecting.members {
            bytes.append(number: UInt16(member.name.utf8.count))
            bytes += member.name.utf8
            bytes.append(flag: member.value != nil)
            guard let value = member.value else { continue }
            bytes.append(flag: member.isHash)
            bytes.append(number: UInt32(value.count))
            bytes += value
        }
    }

    private static func append(_ owner: CacheOwner, to bytes: inout [UInt8]) {
        bytes.append(flag: owner.user != nil)
        if let user = owner.user {
            bytes.append(number: UInt8(user.count))
            bytes += user
        }
        bytes.append(number: UInt16(owner.terms.utf8.count))
        bytes += owner.terms.utf8
    }

    private static func append(_ fields: Fields, to bytes: inout [UInt8]) {
        bytes.append(number: UInt16(fields.count))
        for field in fields.entries {
            bytes.append(number: field.nameCount)
            bytes.append(number: field.valueCount)
            bytes.append(flag: field.isSensitive)
            bytes += fields.bytes[field.name]
            bytes += fields.bytes[field.value]
        }
    }

    // MARK: - Reading

    package static func entry(_ bytes: Bytes, rules: CacheRules) throws(CacheRefusal) -> CacheEntry {
        var reader = RecordReader(bytes)
        let key = try reader.text(try reader.count(UInt32.self, limit: Limit.key))
        let method = try reader.text(try reader.count(UInt8.self, limit: Limit.method))
        let status = HTTP.Status(Int(try reader.number(UInt16.self)))
        let sentAt = try reader.number(Int64.self)
        let receivedAt = try reader.number(Int64.self)
        let isDoubtful = try reader.flag()
        let asked = try reader.number(UInt8.self)
        guard asked < 4 else { throw .value }
        let body = try body(&reader)
        let selecting = try selecting(&reader)
        let owner = try owner(&reader)
        let fields = try fields(&reader)
        try reader.end()
        let entry = CacheEntry(
            key: CacheKey(text: key), method: HTTP.Method(method), selecting: selecting, owner: owner,
            wasNamed: asked % 2 == 1, hasEverybodysBody: asked > 1, status: status, fields: fields, sentAt: sentAt,
            receivedAt: receivedAt, body: body, isDoubtful: isDoubtful, rules: rules)
        guard isWithinLimits(entry) else { throw .value }
        return entry
    }

    private static func body(_ reader: inout RecordReader) throws(CacheRefusal) -> CachedBody {
        let isPart = try reader.flag()
        let lower = isPart ? try reader.count(UInt64.self, limit: Limit.length) : 0
        let upper = try reader.count(UInt64.self, limit: Limit.length)
        guard isPart else { return .whole(upper) }
        guard lower < upper else { throw .value }
        return .part(
            lower..<upper, complete: try reader.flag() ? try reader.count(UInt64.self, limit: Limit.length) : nil)
    }

    private static func selecting(_ reader: inout RecordReader) throws(CacheRefusal) -> SelectingFields {
        var members: [SelectingFields.Member] = []
        for _ in 0..<(try reader.count(UInt16.self, limit: Limit.selecting)) {
            let name = try reader.text(try reader.count(UInt16.self, limit: Limit.text))
            guard try reader.flag() else {
                members.append(SelectingFields.Member(name: name, value: nil))
                continue
            }
            let isHash = try reader.flag()
            let value = try reader.take(try reader.count(UInt32.self, limit: Limit.text))
            members.append(SelectingFields.Member(name: name, value: Bytes(value.array), isHash: isHash))
        }
        return SelectingFields(members)
    }

    private static func owner(_ reader: inout RecordReader) throws(CacheRefusal) -> CacheOwner {
        var user: Bytes?
        if try reader.flag() {
            user = Bytes(try reader.take(try reader.count(UInt8.self, limit: Limit.hash)).array)
        }
        return CacheOwner(user: user, terms: try reader.text(try reader.count(UInt16.self, limit: Limit.terms)))
    }

    private static func fields(_ reader: inout RecordReader) throws(CacheRefusal) -> Fields {
        var bytes: [UInt8] = []
        var entries = Fields().entries
        let count = try reader.count(UInt16.self, limit: Limit.fields)
        // A field has seven bytes beside its name and value.
        entries.reserveCapacity(min(count, reader.remaining / 7))
        bytes.reserveCapacity(reader.remaining)
        for _ in 0..<count {
            let nameCount = try reader.count(UInt16.self, limit: Limit.text)
            let valueCount = try reader.count(UInt32.self, limit: Limit.text)
            let isSensitive = try reader.flag()
            let start = bytes.count
            let both = try reader.take(nameCount + valueCount)
            both.span.withUnsafeBufferPointer { bytes.append(contentsOf: $0) }
            entries.append(
                .init(
                    name: start..<start + nameCount, value: start + nameCount..<bytes.count, isSensitive: isSensitive))
        }
        return Fields(bytes: bytes, entries: entries)
    }
}

// MARK: - Limits

extension CacheEntryCodec {
    private static func isWithinLimits(_ entry: CacheEntry) -> Bool {
        let times = [entry.sentAt, entry.receivedAt]
        return entry.key.text.utf8.count <= Limit.key && isToken(entry.method.rawValue.utf8, upTo: Limit.method)
            && 200...599 ~= entry.status.code && times.allSatisfy { 0...Limit.time ~= $0 } && isSound(entry.body)
            && isSound(entry.selecting) && isSound(entry.owner) && isSound(entry.fields)
    }

    /// Whether a range is possible: a part has at least one byte and lacks at least one.
    private static func isSound(_ body: CachedBody) -> Bool {
        switch body {
        case .whole(let length): return 0...Limit.length ~= length
        case .part(let range, let complete):
            guard range.lowerBound >= 0, !range.isEmpty, range.upperBound <= Limit.length else { return false }
            guard let complete else { return true }
            return range.upperBound <= complete && complete <= Limit.length && range != 0..<complete
        }
    }

    private static func isSound(_ selecting: SelectingFields) -> Bool {
        selecting.members.count <= Limit.selecting
            && selecting.members.allSatisfy {
                isToken($0.name.utf8, upTo: Fields.longestName) && ($0.value?.count ?? 0) <= Limit.text
            }
    }

    private static func isSound(_ owner: CacheOwner) -> Bool {
        owner.user.map { 1...Limit.hash ~= $0.count } ?? true && owner.terms.utf8.count <= Limit.terms
    }

    /// Whether no field would read as two, or as the end of a head.
    private static func isSound(_ fields: Fields) -> Bool {
        fields.count <= Limit.fields
            && fields.entries.allSatisfy { entry in
                isToken(fields.bytes[entry.name], upTo: Fields.longestName) && entry.valueCount <= Limit.text
                    && !fields.bytes[entry.value].contains { $0 == 0x0A || $0 == 0x0D || $0 == 0 }
            }
    }

    private static func isToken(_ name: some Collection<UInt8>, upTo limit: Int) -> Bool {
        !name.isEmpty && name.count <= limit
            && name.allSatisfy { 0x21...0x7E ~= $0 && $0 != UInt8(ascii: ":") }
    }
}
