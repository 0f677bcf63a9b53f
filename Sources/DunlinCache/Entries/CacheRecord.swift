internal import DunlinSecure
package import DunlinSemantics
package import DunlinTypes

/// The file of a key: the heads of everything stored under it, and the short bodies.
///
/// One checksum covers all of it, the project's 64-bit XXH3: it is for accidents, such as blocks that were not written
/// before a loss of power. The folder belongs to its user alone, so the checksum need not withstand attackers, and this
/// one is the fastest at hand without special instructions. It is verified before anything else is read.
///
/// The form: eight bytes that name the version, the checksum of all that follows, and the number of members; then, for
/// each, its number, its body's bytes if they are here, and its entry. Runs of bytes are preceded by their length.
package struct CacheRecord {
    package struct Member {
        /// The number of the body, the same for as long as the body is.
        package let id: UInt64
        package let entry: CacheEntry
        /// The body's bytes; nil if the body has a file of its own.
        package let bytes: Bytes?
        /// The entry as it is in the file.
        let encoded: [UInt8]

        init?(id: UInt64, entry: CacheEntry, bytes: Bytes?) {
            guard let encoded = CacheEntryCodec.encoded(entry) else { return nil }
            (self.id, self.entry, self.bytes, self.encoded) = (id, entry, bytes, encoded)
        }

        init(id: UInt64, entry: CacheEntry, bytes: Bytes?, encoded: [UInt8]) {
            (self.id, self.entry, self.bytes, self.encoded) = (id, entry, bytes, encoded)
        }
    }

    /// The number of forms of a response that are stored. One more replaces the first.
    static var mostMembers: Int { 16 }
    /// The longest file: that many members with the longest heads and bodies that are written.
    static var longest: Int { 4 << 20 }
    private static let magic = Array("dunlin\u{3}\n".utf8)
    private static var headLength: Int { magic.count + 8 }

    package private(set) var members: [Member]

    init(_ members: [Member] = []) {
        self.members = members
    }

    /// The key, which all members share.
    var key: CacheKey? { members.first?.entry.key }
    var isEmpty: Bool { members.isEmpty }
    /// The numbers of the bodies with files of their own.
    var files: Set<UInt64> { Set(members.lazy.filter { $0.bytes == nil }.map(\.id)) }

    /// Inserts a member; returns false if it is too long by itself.
    @discardableResult
    mutating func insert(_ member: Member) -> Bool {
        members.removeAll { old in
            old.id == member.id || old.entry.key != member.entry.key || member.entry.supersedes(old.entry)
        }
        members.append(member)
        while members.count > Self.mostMembers || length > Self.longest, members.count > 1 { members.removeFirst() }
        return length <= Self.longest
    }

    /// Replaces the entry of a body. Returns false if there is no such body or the entry cannot be written.
    mutating func update(_ id: UInt64, to entry: CacheEntry) -> Bool {
        guard let index = members.firstIndex(where: { $0.id == id }),
            entry.body.range.count == members[index].entry.body.range.count,
            entry.key == members[index].entry.key,
            let member = Member(id: id, entry: entry, bytes: members[index].bytes)
        else { return false }
        members[index] = member
        return length <= Self.longest
    }

    mutating func remove(_ ids: Set<UInt64>) {
        members.removeAll { ids.contains($0.id) }
    }
}

// MARK: - Bytes

extension CacheRecord {
    var length: Int {
        members.reduce(Self.headLength + 1) { $0 + 13 + ($1.bytes.map { 4 + $0.count } ?? 0) + $1.encoded.count }
    }

    package func encoded() -> [UInt8] {
        var bytes = Self.magic
        bytes.reserveCapacity(length)
        bytes.append(number: 0 as UInt64)
        bytes.append(number: UInt8(members.count))
        for member in members {
            bytes.append(number: member.id)
            bytes.append(flag: member.bytes != nil)
            if let body = member.bytes {
                bytes.append(number: UInt32(body.count))
                // As one memory: any sequence else is appended byte by byte.
                body.withUnsafeBytes { bytes.append(contentsOf: $0) }
            }
            bytes.append(number: UInt32(member.encoded.count))
            bytes += member.encoded
        }
        Self.seal(&bytes)
        return bytes
    }

    /// Returns the bytes with the checksum in its place. Bytes too short to have one are unchanged.
    package static func sealed(_ bytes: [UInt8]) -> [UInt8] {
        var sealed = bytes
        if bytes.count >= headLength { seal(&sealed) }
        return sealed
    }

    private static func seal(_ bytes: inout [UInt8]) {
        let (start, sum) = (magic.count, sum(of: bytes))
        for index in 0..<8 { bytes[start + index] = UInt8(truncatingIfNeeded: sum >> (8 * UInt64(index))) }
    }

    private static func sum(of bytes: [UInt8]) -> UInt64 {
        bytes.withUnsafeBytes { Checksum.value(of: UnsafeRawBufferPointer(rebasing: $0[headLength...])) }
    }

    package init(_ bytes: [UInt8], rules: CacheRules) throws(CacheRefusal) {
        guard bytes.count <= Self.longest else { throw .limit }
        guard bytes.count >= Self.headLength else { throw .truncated }
        guard bytes.starts(with: Self.magic) else { throw .format }
        var reader = RecordReader(Bytes(bytes))
        _ = try reader.take(Self.magic.count)
        guard try reader.number(UInt64.self) == Self.sum(of: bytes) else { throw .checksum }
        members = []
        let count = try reader.count(UInt8.self, limit: Self.mostMembers)
        for _ in 0..<count { members.append(try Self.member(&reader, rules)) }
        try reader.end()
        // A file without members is never written.
        guard let key, members.dropFirst().allSatisfy({ $0.entry.key == key }),
            count == 1 || Set(members.map(\.id)).count == count
        else { throw .value }
    }

    private static func member(_ reader: inout RecordReader, _ rules: CacheRules) throws(CacheRefusal) -> Member {
        let id = try reader.number(UInt64.self)
        let body: Bytes? =
            try reader.flag() ? try reader.take(try reader.count(UInt32.self, limit: longest)) : nil
        let encoded = try reader.take(try reader.count(UInt32.self, limit: longest))
        let entry = try CacheEntryCodec.entry(encoded, rules: rules)
        if let body, body.count != entry.body.range.count { throw .value }
        return Member(id: id, entry: entry, bytes: body, encoded: encoded.array)
    }
}
