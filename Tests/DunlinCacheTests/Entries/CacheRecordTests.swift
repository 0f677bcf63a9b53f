import DunlinSemantics
import DunlinTypes
import Testing

@testable import DunlinCache

@Suite struct `Cache record` {
    private static let secret: Fields = {
        var fields: Fields = ["ETag": "\"1\"", "Date": "Thu, 01 Jan 1970 00:16:40 GMT"]
        fields.append(name: "X-Key", value: "k", sensitive: true)
        fields.append(name: "Empty", value: "")
        fields.append(name: "Empty", value: "again")
        return fields
    }()

    private static func entry(
        _ body: CachedBody, method: HTTP.Method = .get, status: HTTP.Status = .ok, fields: Fields = secret,
        selecting: [SelectingFields.Member] = [], owner: CacheOwner = .everybody, sentAt: Int64 = 1000,
        wasNamed: Bool = false, hasEverybodysBody: Bool = false, isDoubtful: Bool = false,
        key: String = "https://a.test/ä?b"
    ) -> CacheEntry {
        CacheEntry(
            key: CacheKey(text: key), method: method, selecting: SelectingFields(selecting), owner: owner,
            wasNamed: wasNamed, hasEverybodysBody: hasEverybodysBody, status: status, fields: fields, sentAt: sentAt,
            receivedAt: 1001, body: body,
            isDoubtful: isDoubtful,
            rules: TestCacheFolder.rules)
    }

    private static let sound = [
        entry(.whole(0)), entry(.whole(Int(1) << 40), isDoubtful: true),
        entry(.part(0..<7, complete: nil), wasNamed: true),
        entry(.whole(1), owner: CacheOwner(user: TestCacheFolder.bytes(32), terms: ""), hasEverybodysBody: true),
        entry(.part(3..<7, complete: 7)), entry(.part(0..<7, complete: 8), method: "QUERY"),
        entry(.whole(1), status: .notFound, fields: [:], sentAt: 0),
        entry(
            .whole(1),
            selecting: [
                .init(name: "accept", value: nil), .init(name: "range", value: ""),
                .init(name: "cookie", value: TestCacheFolder.bytes(32)),
            ]),
        entry(.whole(1), owner: CacheOwner(user: TestCacheFolder.bytes(32), terms: "guard é")),
        entry(.whole(1), owner: CacheOwner(user: nil, terms: "guard")),
    ]

    @Test(arguments: sound.indices)
    func `an entry is read as it was written`(index: Int) throws {
        let entry = Self.sound[index]
        let bytes = try #require(CacheEntryCodec.encoded(entry))
        let read = try CacheEntryCodec.entry(Bytes(bytes), rules: TestCacheFolder.rules)
        #expect(read.key == entry.key)
        #expect(read.method == entry.method)
        #expect(read.status == entry.status)
        #expect(read.fields == entry.fields)
        #expect(read.fields.entries.map(\.isSensitive) == entry.fields.entries.map(\.isSensitive))
        #expect(read.selecting == entry.selecting)
        #expect(read.owner == entry.owner)
        #expect((read.sentAt, read.receivedAt) == (entry.sentAt, entry.receivedAt))
        #expect(read.body == entry.body)
        #expect(read.isDoubtful == entry.isDoubtful)
        #expect(read.wasNamed == entry.wasNamed && read.hasEverybodysBody == entry.hasEverybodysBody)
        #expect(CacheEntryCodec.encoded(read) == bytes)
    }

    @Test(arguments: sound.indices)
    func `an entry that is cut short or goes on is refused`(index: Int) throws {
        let bytes = try #require(CacheEntryCodec.encoded(Self.sound[index]))
        for count in bytes.indices {
            #expect(throws: CacheRefusal.truncated) {
                try CacheEntryCodec.entry(Bytes(bytes, in: 0..<count), rules: TestCacheFolder.rules)
            }
        }
        #expect(throws: CacheRefusal.surplus) {
            try CacheEntryCodec.entry(Bytes(bytes + [0]), rules: TestCacheFolder.rules)
        }
    }

    @Test(
        arguments: [
            entry(.whole(-1)), entry(.part(0..<0, complete: nil)), entry(.part(0..<7, complete: 7)),
            entry(.part(3..<7, complete: 6)), entry(.whole(.max)), entry(.whole(1), method: ""),
            entry(.whole(1), method: "A B"), entry(.whole(1), status: HTTP.Status(199)),
            entry(.whole(1), status: HTTP.Status(600)), entry(.whole(1), fields: ["a b": "c"]),
            entry(.whole(1), fields: ["a:": "c"]), entry(.whole(1), fields: ["": "c"]),
            entry(.whole(1), fields: ["a": "b\r\nc: d"]), entry(.whole(1), fields: ["a": "b\0"]),
            entry(.whole(1), fields: ["a": String(repeating: "b", count: (1 << 20) + 1)]),
            entry(.whole(1), sentAt: -1), entry(.whole(1), sentAt: .max),
            entry(.whole(1), selecting: [.init(name: "", value: nil)]),
            entry(.whole(1), owner: CacheOwner(user: Bytes([]), terms: "")),
            entry(.whole(1), owner: CacheOwner(user: TestCacheFolder.bytes(65), terms: "")),
            entry(.whole(1), owner: CacheOwner(user: nil, terms: String(repeating: "t", count: 4097))),
            entry(.whole(1), key: String(repeating: "k", count: (64 << 10) + 1)),
        ].map { Unsound($0) })
    func `an entry that would be refused is not written`(unsound: Unsound) {
        #expect(CacheEntryCodec.encoded(unsound.entry) == nil)
    }

    struct Unsound: Sendable {
        let entry: CacheEntry
        init(_ entry: CacheEntry) { self.entry = entry }
    }

    /// The same for requests that no other form fits.
    private static func form(of entry: CacheEntry, _ id: Int) -> CacheEntry {
        let member = SelectingFields.Member(name: "x-form", value: Bytes("\(id)"))
        return CacheEntry(
            key: entry.key, method: entry.method, selecting: SelectingFields(entry.selecting.members + [member]),
            owner: entry.owner, wasNamed: entry.wasNamed, hasEverybodysBody: entry.hasEverybodysBody,
            status: entry.status, fields: entry.fields,
            sentAt: entry.sentAt,
            receivedAt: entry.receivedAt, body: entry.body, isDoubtful: entry.isDoubtful, rules: TestCacheFolder.rules)
    }

    private static func record() throws -> CacheRecord {
        var record = CacheRecord()
        for (id, entry) in sound.enumerated() {
            let count = entry.body.range.count
            let bytes = count > 100 ? nil : TestCacheFolder.bytes(count)
            let form = Self.form(of: entry, id)
            record.insert(try #require(CacheRecord.Member(id: UInt64(id), entry: form, bytes: bytes)))
        }
        return record
    }

    @Test func `a record is read as it was written`() throws {
        let record = try Self.record()
        let bytes = record.encoded()
        #expect(bytes.count == record.length)
        let read = try CacheRecord(bytes, rules: TestCacheFolder.rules)
        #expect(read.members.map(\.id) == record.members.map(\.id))
        #expect(read.members.map(\.bytes) == record.members.map(\.bytes))
        #expect(read.files == [1])
        #expect(read.encoded() == bytes)
    }

    @Test func `a record is refused if one bit of it is another, or its end is missing`() throws {
        let bytes = try Self.record().encoded()
        for index in bytes.indices {
            var changed = bytes
            changed[index] ^= 1 << UInt8(index % 8)
            #expect(throws: CacheRefusal.self) { try CacheRecord(changed, rules: TestCacheFolder.rules) }
            #expect(throws: CacheRefusal.self) { try CacheRecord(Array(bytes[..<index]), rules: TestCacheFolder.rules) }
        }
    }

    @Test func `a false length is refused before memory is reserved for it`() throws {
        let bytes = try Self.record().encoded()
        // Behind the version and the checksum: how many members, then the number and the flag of the first.
        for (offset, count) in [(16, 1), (26, 4)] {
            var changed = bytes
            for index in 0..<count { changed[offset + index] = 0xFF }
            #expect(throws: CacheRefusal.limit) {
                try CacheRecord(CacheRecord.sealed(changed), rules: TestCacheFolder.rules)
            }
        }
    }

    @Test func `a record without members, with two of a number or of several keys is refused`() throws {
        let entry = Self.entry(.whole(1))
        let one = try #require(CacheRecord.Member(id: 1, entry: entry, bytes: "a"))
        let other = try #require(CacheRecord.Member(id: 2, entry: Self.entry(.whole(1), key: "b"), bytes: "a"))
        for members in [[], [one, one], [one, other]] {
            #expect(throws: CacheRefusal.value) {
                try CacheRecord(CacheRecord(members).encoded(), rules: TestCacheFolder.rules)
            }
        }
    }

    @Test func `a limited number of a key's forms is kept, and the first is replaced`() throws {
        var record = CacheRecord()
        for id in 0..<20 {
            let entry = Self.form(of: Self.entry(.whole(1)), id)
            record.insert(try #require(CacheRecord.Member(id: UInt64(id), entry: entry, bytes: "a")))
        }
        #expect(record.members.map(\.id) == Array(4..<20))
        let long = Self.entry(.whole(1), fields: ["a": String(repeating: "b", count: 1 << 20)])
        for id in 20..<30 {
            let entry = Self.form(of: long, id)
            record.insert(try #require(CacheRecord.Member(id: UInt64(id), entry: entry, bytes: "a")))
            #expect(record.length <= CacheRecord.longest)
        }
        #expect(record.members.last?.id == 29)
    }

    @Test(
        arguments: [
            ("dunlin-cache-3-lock", .lock), ("dunlin-cache-3-new-00000000000000ff", .temporary(255)),
            ("dunlin-cache-1-lock", .other), ("dunlin-cache-12-whatever-x", .other), ("dunlin-cache-3-", nil),
            ("dunlin-cache-3", nil), ("dunlin-cache-", nil), ("dunlin-cache--a", nil), ("dunlin-cache-x-lock", nil),
            ("dunlin-cache-3-new-ff", nil), ("dunlin-cache-3-new-00000000000000FF", nil), ("photo.jpg", nil),
            ("dunlin-cache-3-new-00000000000000ff-1", nil), (".", nil),
        ] as [(String, CacheFileName?)])
    func `files that a cache did not create are not recognised`(text: String, file: CacheFileName?) {
        #expect(CacheFileName(text) == file)
        if let file, file != .other { #expect(file.text == text) }
    }

    @Test func `a file's name does not show its URL, and is read back`() throws {
        let name = try #require(CacheName(TestCacheFolder.key("/secret?token=1")))
        let record = CacheFileName.record(name)
        #expect(!record.text.contains("secret"))
        #expect(CacheFileName(record.text) == record)
        #expect(CacheFileName(CacheFileName.body(name, 7).text) == .body(name, 7))
    }

    @Test(arguments: [0, 1, 99, 100, 101, 65_536, 65_537, 200_000], [1, 7000, 65_536, 200_000])
    func `a body is gathered into blocks, however it comes`(count: Int, piece: Int) throws {
        let body = TestCacheFolder.bytes(count)
        var gathering = BodyGathering(id: 9, inline: 100, limit: 200_000)
        var file: [UInt8] = []
        func act(_ action: BodyGathering.Action) {
            guard case .write(let bytes, let offset) = action else { return #expect(action == .none) }
            #expect(offset == file.count)
            file += bytes
        }
        if piece > 1 || count < 1000 {
            for start in stride(from: 0, to: count, by: piece) {
                act(gathering.add(body[start..<min(start + piece, count)]))
            }
        } else {
            act(gathering.add(body))
        }
        act(gathering.end())
        #expect(gathering.count == count)
        guard count > 100 else {
            #expect(gathering.inlineBytes == body)
            return #expect(file.isEmpty)
        }
        #expect(gathering.inlineBytes == nil)
        #expect(file.count == BodyBlocks.fileLength(of: count))
        var read: [UInt8] = []
        for block in 0..<(count + 65_535) / 65_536 {
            let range = BodyBlocks.range(of: block, in: count)
            let start = BodyBlocks.offset(of: block)
            let bytes = Array(file[start..<start + range.count + 8])
            read += try #require(BodyBlocks.opened(bytes, 9, block))
            #expect(BodyBlocks.opened(bytes, 8, block) == nil)
            #expect(BodyBlocks.opened(bytes, 9, block + 1) == nil)
        }
        #expect(Bytes(read) == body)
    }

    @Test func `a body that is longer than it may be is given up`() {
        var gathering = BodyGathering(id: 1, inline: 10, limit: 20)
        #expect(gathering.add(TestCacheFolder.bytes(20)) == .none)
        #expect(gathering.add("x") == .giveUp)
    }
}
