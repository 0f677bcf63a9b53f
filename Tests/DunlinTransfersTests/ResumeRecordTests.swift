import Dunlin
import DunlinSemantics
import DunlinTypes
import Foundation
import Testing

@testable import DunlinTransfers

@Suite struct `A resume record` {
    private typealias Piece = ResumeData.Piece

    private static func piece(_ range: Range<Int>, _ checksum: UInt64 = 7) -> Piece {
        Piece(range: range, checksum: checksum)
    }

    private static func data(
        _ pieces: [Piece] = [], complete: Int? = 1000, validator: String? = #""v1""#, part: String = "/tmp/a/x.part",
        source: ResumeSource? = nil
    ) throws -> ResumeData {
        let data = ResumeData(
            url: "https://a.test/x?y=z", method: .get, fields: ["Accept": "*/*", "X-Own": "ü"], validator: validator,
            completeLength: complete, partPath: part, pieces: pieces, source: source)
        return try #require(data)
    }

    /// A file as the writer leaves it.
    private static func written(_ record: ResumeRecord, _ updates: [ResumeRecord.Update]) -> [UInt8] {
        updates.reduce(into: record.bytes) { bytes, update in
            bytes.replaceSubrange(update.offset..<update.offset + update.bytes.count, with: update.bytes)
        }
    }

    @Test(
        arguments: [
            (nil, nil, []), (1000, #""v1""#, []), (1000, #""v1""#, [piece(0..<1000, .max)]),
            (Int.max, "Sun, 06 Nov 1994 08:49:37 GMT", [piece(5..<Int.max)]),
            (nil, #""é""#, [piece(0..<5), piece(5..<6), piece(10..<20)]),
        ] as [(Int?, String?, [ResumeData.Piece])])
    func `a resume record is read as it was written`(complete: Int?, validator: String?, pieces: [ResumeData.Piece])
        throws
    {
        let data = try Self.data(pieces, complete: complete, validator: validator)
        let record = ResumeRecord(data, capacity: 4)
        let read = try ResumeRecord(record.bytes, at: "r")
        #expect(read == record)
        #expect(read.resumeData(in: "/tmp/a") == data)
    }

    @Test func `a resume record says whose the bytes are, and not who that is`() throws {
        let answer = ResumeSource.Answer("alice at https://a.test")
        let source = ResumeSource(answer)
        let read = try ResumeRecord(ResumeRecord(try Self.data(source: source)).bytes, at: "r")
        #expect(read.data.source == source && source.isOf(answer))
        #expect(!source.isOf(.init("bob at https://a.test")))
        #expect(!source.isOf(.init("bob at https://a.test", withJar: "alice at https://a.test")))
        let unknown = ResumeSource.Answer(nil)
        #expect(!source.isOf(unknown) && !ResumeSource(unknown).isOf(unknown))
        #expect(ResumeSource(answer) != source, "each has a salt of its own")
        #expect(!"\(source)".contains("alice"))
    }

    @Test func `a resume record holds the last update`() throws {
        let start = ResumeRecord(try Self.data())
        var record = start
        var bytes = record.bytes
        for count in 1...5 {
            let update = record.advance(to: [Self.piece(0..<100 * count, UInt64(count))])
            bytes.replaceSubrange(update.offset..<update.offset + update.bytes.count, with: update.bytes)
            let read = try ResumeRecord(bytes, at: "r")
            #expect(read == record)
            #expect(read.data.offset == 100 * count)
        }
        // Whoever goes on writes over the older slot as well.
        var read = try ResumeRecord(bytes, at: "r")
        #expect(read.advance(to: [Self.piece(0..<600)]) == record.advance(to: [Self.piece(0..<600)]))
    }

    @Test func `a resume record keeps its former state if a write is torn anywhere`() throws {
        var record = ResumeRecord(try Self.data())
        let first = record.advance(to: [Self.piece(0..<100)])
        let before = Self.written(ResumeRecord(try Self.data()), [first])
        let second = record.advance(to: [Self.piece(0..<200)])
        for count in 0..<second.bytes.count {
            let torn = ResumeRecord.Update(offset: second.offset, bytes: Array(second.bytes[..<count]))
            let bytes = torn.bytes.enumerated().reduce(into: before) { $0[torn.offset + $1.offset] = $1.element }
            #expect(try ResumeRecord(bytes, at: "r").data.offset == 100)
        }
    }

    @Test func `a resume record that is damaged or cut short is refused`() throws {
        var record = ResumeRecord(try Self.data([Self.piece(0..<10)]))
        let update = record.advance(to: [Self.piece(0..<20)])
        let whole = Self.written(ResumeRecord(try Self.data([Self.piece(0..<10)])), [update])
        let head = whole.count - 2 * update.bytes.count
        for count in whole.indices {
            #expect(Self.code(of: Array(whole[..<count])) == .invalidResumeData)
        }
        #expect(Self.code(of: whole + [0]) == .invalidResumeData)
        for bit in 0..<8 * whole.count {
            var damaged = whole
            damaged[bit / 8] ^= 1 << (bit % 8)
            if bit / 8 < head {
                #expect(Self.code(of: damaged) == .invalidResumeData)
            } else {
                // One of its two states is whole.
                #expect(try [10, 20].contains(ResumeRecord(damaged, at: "r").data.offset))
            }
        }
        var both = whole
        both[head] ^= 1
        both[head + update.bytes.count] ^= 1
        #expect(Self.code(of: both) == .invalidResumeData)
        #expect(Self.code(of: [UInt8](repeating: 0, count: ResumeRecord.longest + 1)) == .invalidResumeData)
    }

    private static func code(of bytes: [UInt8]) -> NetworkError.Code? {
        do throws(NetworkError) {
            _ = try ResumeRecord(bytes, at: "r")
            return nil
        } catch {
            return error.code
        }
    }

    @Test func `a resume record holds no more pieces than it has room for`() throws {
        var record = ResumeRecord(try Self.data([Self.piece(0..<1), Self.piece(2..<3)]), capacity: 0)
        #expect(record.capacity == 1)
        #expect(record.data.pieces == [Self.piece(0..<1)])
        _ = record.advance(to: [Self.piece(4..<5), Self.piece(6..<7)])
        #expect(record.data.pieces == [Self.piece(4..<5)])
    }

    @Test(arguments: [
        ("/tmp/a/x.part", "/b", "/b/x.part"), ("x.part", "", "x.part"), ("../x.part", "/b/", "/b/x.part"),
    ])
    func `a resume record can be moved together with its part file`(part: String, folder: String, expected: String)
        throws
    {
        let record = ResumeRecord(try Self.data(part: part))
        #expect(try ResumeRecord(record.bytes, at: "r").resumeData(in: folder).partPath == expected)
    }

    @Test(arguments: ["/", "/tmp/a/..", "."])
    func `a resume record whose part is a folder is refused`(part: String) throws {
        let record = ResumeRecord(try Self.data(part: part))
        #expect(Self.code(of: record.bytes) == .invalidResumeData)
    }

    /// As the first version left it: whole, but with checksums that nobody makes any more.
    private static let earlier = [
        "ZHVubGluUjGqAAAAAQAAABcAAABodHRwOi8vMTI3LjAuMC4xOjgwOTkveAMAAABHRVQEAAAAInYxIkBCDwAAAAAADgAAAC5mLmR1",
        "bmxpbi1wYXJ0AgAAAAoAAABVc2VyLUFnZW50JwAAAGNsaWVudC1iZWZvcmUvMCAoTGludXggNi4xOC40NDsgeDg2XzY0KQYAAABB",
        "Y2NlcHQDAAAAKi8qP8EGTjqhbCgBAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAGLz5XQm+IAECAAAAAAAA",
        "AAEAAAAAAAAAAAAAAAAAAADoAwAAAAAAAFoHRHnyHisO03eYO5XUiw0=",
    ]

    @Test func `a resume record of an earlier version is refused as another version`() throws {
        let bytes = [UInt8](try #require(Data(base64Encoded: Self.earlier.joined())))
        #expect(bytes.starts(with: "dunlinR1".utf8) && bytes.count == 266)
        let error = #expect(throws: NetworkError.self) { try ResumeRecord(bytes, at: "r") }
        #expect(error?.code == .invalidResumeData)
        #expect(error?.reason.contains("the record file r is invalid, or of another version") == true)
    }
}
