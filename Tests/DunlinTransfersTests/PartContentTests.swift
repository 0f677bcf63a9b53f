import Dunlin
import DunlinReactor
import DunlinSecure
import DunlinSemantics
import DunlinTesting
import DunlinTypes
import Folders
import Foundation
import Synchronization
import Testing

@testable import DunlinTransfers

@Suite(.timeLimit(.minutes(10))) struct `The content of a part file` {
    private static let length = 40 << 20

    private static func bytes(_ range: Range<Int>) -> Bytes { LoopbackServer.GeneratedBody.bytes(range) }

    private static func with(
        _ algorithm: ContentDigest.Algorithm? = .sha256, _ play: (PartContent, String) async throws -> Void
    ) async throws {
        let folder = try Folder()
        let path = "\(folder.path)/.x.dunlin-part"
        try await play(try PartContent(try PartFile(creating: path), digest: algorithm), path)
    }

    private static func write(_ range: Range<Int>, to content: PartContent) throws -> Bool {
        let piece = bytes(range)
        try put(piece, at: range.lowerBound, in: content.file)
        return try content.wrote(piece, at: range.lowerBound, HTTP.Instant(nanoseconds: 0))
    }

    private static func put(_ piece: Bytes, at offset: Int, in file: PartFile) throws {
        try piece.withUnsafeBytes { bytes throws(Errno) in try file.write(bytes, at: offset) }
    }

    private static func expected(_ range: Range<Int>) throws -> ContentDigest {
        try Digester.digest(of: bytes(range), .sha256)
    }

    static let orders: [[Int]] = [[0, 1, 2, 3], [3, 2, 1, 0], [1, 0, 3, 2], [2, 0, 3, 1]]

    @Test(arguments: orders) func `a part's content is hashed in order, whatever the order of its pieces`(order: [Int])
        async throws
    {
        try await Self.with { content, _ in
            let quarter = Self.length / 4
            var isBehind = false
            for index in order {
                isBehind = try Self.write(index * quarter..<(index + 1) * quarter, to: content) || isBehind
            }
            #expect(isBehind == (order != [0, 1, 2, 3]), "somebody is to catch up where they came out of order")
            #expect(content.prefixEnd == Self.length && content.gaps(upTo: Self.length).isEmpty)
            if order == [3, 2, 1, 0] { content.catchUp(on: .shared) }
            let digests = [try content.digest { false }, try content.digest(.sha256) { false }]
            let expected = try Self.expected(0..<Self.length)
            #expect(digests == [expected, expected])
        }
    }

    @Test func `what a part has is not read again for its resume data when there is no time for that`() async throws {
        try await Self.with { content, path in
            _ = try Self.write(0..<Self.length / 4, to: content)
            var asked = 0
            #expect(throws: Errno.cancelled) {
                try content.pieces {
                    asked += 1
                    return asked == 3
                }
            }
            #expect(asked == 3)
            let part = try DownloadPart(
                content.file, isFindable: false, digest: nil, pieces: 1, on: try Reactor())
            _ = try part.content.wrote(Self.bytes(0..<100), at: 0, HTTP.Instant(nanoseconds: 0))
            let data = part.leave(withRecord: false) {
                true
            } _: { pieces in
                Issue.record("there are no pieces")
                return ResumeData(
                    WebAddress(origin: .init(scheme: .http, host: "a.test"), target: "/", fragment: nil),
                    validator: nil, completeLength: nil, partPath: path, pieces: pieces)
            }
            #expect(data == nil && !FileManager.default.fileExists(atPath: path))
        }
    }

    @Test func `a part that a sweep has locked first is none that a later download finds`() throws {
        let folder = try Folder(with: "a")
        let path = "\(folder.path)/.x.dunlin-part"
        var sweeping: PartFile?
        let claimed = try DownloadPart.claim(path) {
            do { sweeping = try PartFile(opening: path) } catch { Issue.record(error) }
        }
        #expect(claimed == nil && sweeping != nil)
        // Another download's is not taken, and nothing else is made for it.
        #expect(throws: HTTPSession.FileFailure.self) { try DownloadPart.claim(path) }
        try sweeping?.remove()
        #expect(try DownloadPart.claim(path) != nil)
    }

    /// A later process knows by it that the file got its name.
    @Test(arguments: [true, false])
    func `publishing leaves the time of a file as it was noted, unless it was written to`(isSame: Bool) async throws {
        try await Self.with { content, path in
            _ = try Self.write(0..<5000, to: content)
            try content.trim()
            if !isSame { try Self.put("x", at: 5000, in: content.file) }
            let early = Date(timeIntervalSince1970: 1)
            try FileManager.default.setAttributes([.modificationDate: early], ofItemAtPath: path)
            let status = try content.file.status()
            let target = Placement.folder(of: path) + "/file"
            let placement = try #require(Placement(path: target, suggestedName: "file"))
            let noted = isSame ? status : nil
            try Publication(placement: placement, options: .init()).publish(content, noted: noted)
            let published = try #require(try FileSystem.status(of: target))
            #expect(published.length == 5000 && (published.modified == 1) == isSame)
        }
    }

    @Test func `computing a part's digest ends when its caller has cancelled`() async throws {
        try await Self.with { content, _ in
            _ = try Self.write(10 << 20..<20 << 20, to: content)
            let isBehind = try Self.write(0..<10 << 20, to: content)
            #expect(isBehind)
            #expect(throws: Errno.cancelled) { _ = try content.digest { true } }
        }
    }

    @Test func `computing another digest of a part ends when it is told to stop`() async throws {
        try await Self.with { content, _ in
            _ = try Self.write(0..<5000, to: content)
            #expect(throws: Errno.cancelled) { _ = try content.digest(.sha256) { true } }
        }
    }

    @Test(arguments: [true, false])
    func `a part is taken up again unless one of its pieces has changed`(isWhole: Bool) async throws {
        try await Self.with { content, path in
            for range in [0..<1000, 5000..<9000, 1000..<2000] { _ = try Self.write(range, to: content) }
            let pieces = try content.pieces { false }
            #expect(pieces.map(\.range) == [0..<2000, 5000..<9000])
            if !isWhole {
                try Self.put(Bytes([0]), at: 6000, in: content.file)
            }
            let again = try PartContent(content.file, digest: .sha256)
            let isTakenUp = try again.takeUp(pieces) { false }
            #expect(isTakenUp == isWhole)
            guard isWhole else { return }
            #expect(again.byteCount == 6000 && again.gaps(upTo: 10_000) == [2000..<5000, 9000..<10_000])
            for range in [9000..<10_000, 2000..<5000] { _ = try Self.write(range, to: again) }
            let digest = try again.digest { false }
            #expect(try digest == Self.expected(0..<10_000))
        }
    }

    /// Whoever is catching up just then must not read on in the file, which has holes where nothing has come yet.
    @Test(arguments: 0..<12)
    func `a part that begins anew while it is hashed has the digest of the new content`(round: Int) async throws {
        try await Self.with { content, _ in
            let half = 4 << 20
            // Out of order, so that all of it is still to be hashed.
            for range in [half..<2 * half, 0..<half] { _ = try Self.write(range, to: content) }
            async let caughtUp: Void = DiskThreads.shared.run { content.catchUp(on: .shared) }
            // At another moment each time.
            let (last, start) = (Self.bytes(0..<1), ContinuousClock.now)
            while ContinuousClock.now - start < .microseconds(300 * round) { await Task.yield() }
            try content.begin(nil)
            try Self.put(last, at: half, in: content.file)
            _ = try content.wrote(last, at: half, HTTP.Instant(nanoseconds: 0))
            await caughtUp
            _ = try Self.write(0..<half, to: content)
            let digest = try content.digest { false }
            #expect(try digest == Digester.digest(of: Bytes(Self.bytes(0..<half).array + last.array), .sha256))
        }
    }

    private static func data(_ path: String) throws -> ResumeData {
        let data = ResumeData(
            url: "http://a/", method: .get, fields: [:], validator: #""v""#, completeLength: 9, partPath: path,
            pieces: [])
        return try #require(data)
    }

    @Test func `a record is written although a killed process left an unfinished one`() async throws {
        try await Self.with { content, path in
            let record = Placement.recordPath(ofPart: path)
            let rest = try PartFile(creating: Placement.draftPath(ofRecord: record))
            try Self.put(Self.bytes(0..<5000), at: 0, in: rest)
            rest.unlock()
            _ = try RecordFile(try Self.data(path), pieces: 1, at: record)
            #expect(try RecordFile.read(record)?.data.url == "http://a/")
            let folder = Placement.folder(of: path)
            #expect(try FileSystem.names(in: folder).sorted() == [".x.dunlin-record", ".x.dunlin-part"].sorted())
        }
    }

    @Test func `a record is written although an unfinished one is swept at the same time`() async throws {
        try await Self.with { content, path in
            let (record, folder) = (Placement.recordPath(ofPart: path), Placement.folder(of: path))
            let (draft, data) = (Placement.draftPath(ofRecord: record), try Self.data(path))
            for _ in 0..<200 {
                try PartFile(creating: draft).unlock()
                try FileManager.default.setAttributes([.modificationDate: Date.distantPast], ofItemAtPath: draft)
                async let swept = DiskThreads.shared.run { () throws(Errno) in
                    try PartSweep.run(in: folder, olderThan: PartSweep.age, at: Int(Date().timeIntervalSince1970))
                }
                _ = try RecordFile(data, pieces: 1, at: record)
                _ = try await swept
                #expect(try RecordFile.read(record)?.data.url == "http://a/")
                #expect(try FileSystem.names(in: folder).count == 2)
            }
        }
    }

    @Test func `a part with a random name is made although all that is unlocked is swept at the same time`()
        async throws
    {
        let folder = try Folder()
        let isOver = Atomic<Bool>(false)
        async let swept = DiskThreads.shared.run { () throws(Errno) in
            while !isOver.load(ordering: .relaxed) {
                _ = try PartSweep.run(in: folder.path, olderThan: 0, at: Int(Date().timeIntervalSince1970) + 1)
            }
        }
        defer { isOver.store(true, ordering: .relaxed) }
        let placement = Placement(folder: folder.path, suggestedName: "a")
        for _ in 0..<10_000 {
            let part = try DownloadPart.make(in: placement)
            #expect(try part.isInPlace())
            Publication.discard(part)
        }
        isOver.store(true, ordering: .relaxed)
        try await swept
    }

    @Test func `a part's record is kept up to date, piece by piece`() async throws {
        try await Self.with(nil) { content, path in
            let data = try #require(
                ResumeData(
                    url: "http://a/", method: .get, fields: [:], validator: #""v""#, completeLength: Self.length,
                    partPath: path, pieces: []))
            let recordPath = Placement.recordPath(ofPart: path)
            try content.begin(try RecordFile(data, pieces: 4, at: recordPath))
            let (first, far, second): (Range<Int>, Range<Int>, Range<Int>) = (
                0..<3 << 20, 20 << 20..<24 << 20, 3 << 20..<4 << 20
            )
            for range in [first, far, second] {
                _ = try Self.write(range, to: content)
            }
            // With the first, and when four MiB had come since.
            var record = try RecordFile.read(recordPath)
            #expect(record?.data.pieces.map(\.range) == [first, far])
            let (isUpdated, pieces) = (try content.updateRecord(), try content.pieces { false })
            record = try RecordFile.read(recordPath)
            #expect(isUpdated && record?.data.pieces == pieces)
            // Each in the place of the one before the last, should it be torn.
            #expect(record?.sequence == 4)
        }
    }
}
