import Dunlin
import FoundationEssentials
import Testing

@testable import DunlinContent
@testable import DunlinSession
@testable import DunlinTransfers

@Suite struct `A property list in binary form` {
    /// Objects as they are; each reference, and each place in the table, has so many bytes.
    private static func list(_ objects: [[UInt8]], sizes: Int = 1, at indices: [Int]? = nil) -> Bytes {
        var bytes = Array("bplist00".utf8)
        var offsets: [Int] = []
        for object in objects {
            offsets.append(bytes.count)
            bytes += object
        }
        let table = bytes.count
        let entries = indices.map { $0.map { offsets[$0] } } ?? offsets
        for entry in entries { bytes += number(entry, sizes) }
        bytes += [0, 0, 0, 0, 0, 0, UInt8(sizes), UInt8(sizes)]
        return Bytes(bytes + number(entries.count, 8) + number(0, 8) + number(table, 8))
    }

    private static func number(_ value: Int, _ size: Int) -> [UInt8] {
        (0..<size).reversed().map { UInt8(truncatingIfNeeded: value >> ($0 * 8)) }
    }

    /// A container or text of that many parts, which follow.
    private static func head(_ kind: UInt8, _ count: Int) -> [UInt8] { [kind | 0xF, 0x12] + number(count, 4) }

    private static func text(_ count: Int) -> [UInt8] { head(0x50, count) + [UInt8](repeating: 0x61, count: count) }

    private static func reason(_ body: Bytes) -> String? {
        do throws(PropertyListShape.Refusal) {
            _ = try PropertyListShape.checked(body)
            return nil
        } catch {
            return error.reason
        }
    }

    /// Foundation's decoder compares keys, in a time that grows with the square of the run.
    @Test func `a text has at most 256 combining marks in a row, in either form`() {
        for (count, isTaken) in [(256, true), (257, false)] {
            let units = Array(repeatElement([0x03, 0x01] as [UInt8], count: count).joined())
            #expect((Self.reason(Self.list([Self.head(0x60, count) + units])) == nil) == isTaken)
            for mark in ["\u{301}", "&#x301;"] {
                let key = String(repeatElement(mark, count: count).joined())
                let body = Bytes("<plist><dict><key>\(key)</key><true/></dict></plist>")
                #expect((Self.reason(body) == nil) == isTaken)
            }
        }
    }

    @Test(
        arguments: [
            ([[]], true), ([[1], []], true), ([[1, 2], [], []], true), ([[0]], false), ([[1], [0]], false),
            ([[1, 1], []], false), ([[1, 1, 1], [2, 2, 2], [3, 3, 3], []], false), ([[7]], false),
        ] as [([[UInt8]], Bool)])
    func `a binary property list is refused unless its containers form a tree`(arrays: [[UInt8]], isTaken: Bool) {
        let body = Self.list(arrays.map { [0xA0 | UInt8($0.count)] + $0 })
        #expect((Self.reason(body) == nil) == isTaken)
    }

    @Test func `a binary property list can refer to one text several times`() throws {
        let names = (0..<200).map { "com.example.some.long.name.\($0 % 7)" }
        let encoder = PropertyListEncoder()
        encoder.outputFormat = .binary
        let body = Bytes(try encoder.encode(names.map { ["identifier": $0, "kind": $0] }))
        let value = try PropertyListSerializer([[String: String]].self).serialize(Replies.made(body))
        #expect(value.map { $0["kind"] } == names)
    }

    @Test(arguments: [0x40, 0x50, 0x60] as [UInt8])
    func `a binary property list that unfolds to much more than its bytes is refused`(kind: UInt8) {
        let parts = kind == 0x60 ? 50_000 : 100_000
        let text = Self.head(kind, parts) + [UInt8](repeating: 0x61, count: 100_000)
        let costs = kind == 0x60 ? 150_000 : 100_000
        func body(_ references: Int) -> Bytes {
            Self.list(
                [Self.head(0xA0, references) + (0..<references).flatMap { _ in Self.number(1, 4) }, text], sizes: 4)
        }
        let most = PropertyListShape.mostContent(of: 100_000) / costs
        #expect(Self.reason(body(most)) == nil)
        #expect(Self.reason(body(20_000)) == "it expands to far more than its size")
        #expect(Self.reason(body(most * 2)) == "it expands to far more than its size")
    }

    @Test func `a key counts once for each use`() {
        let count = 3_000
        let references = (0..<(2 * count)).flatMap { Self.number($0 < count ? 1 : 2, 2) }
        let body = Self.list([Self.head(0xD0, count) + references, Self.text(30_000), [0x09]], sizes: 2)
        #expect(Self.reason(body) == "it expands to far more than its size")
    }

    /// The objects of the table may lie on top of each other: a thousand arrays in one place, or in each other's
    /// references.
    @Test func `containers that overlap in a binary property list are refused`() {
        let count = 2_000
        let references = (1...count).flatMap { Self.number($0, 2) }
        let same = Self.list(
            [Self.head(0xA0, count) + references], sizes: 2, at: [Int](repeating: 0, count: count + 1))
        #expect(Self.reason(same) == "it uses a container in more than one place")
        // Arrays of fourteen, each beginning one byte after the other.
        let overlapping = [UInt8](repeating: 0xAE, count: 200) + [UInt8](repeating: 0, count: 15)
        var bytes = Array("bplist00".utf8) + overlapping
        let table = bytes.count
        bytes += (8..<208).map { UInt8($0) } + [0, 0, 0, 0, 0, 0, 1, 1] + Self.number(200, 8) + Self.number(0, 8)
        #expect(Self.reason(Bytes(bytes + Self.number(table, 8))) != nil)
    }

    @Test(arguments: [1_000, 2_000, 4_000])
    func `a binary property list is checked in as many steps as it has references`(count: Int) throws {
        let references = (1...count).flatMap { Self.number($0, 2) }
        let leaves = (0..<count).map { _ in [0x10, 7] as [UInt8] }
        var shape = BinaryPropertyListShape(Self.list([Self.head(0xA0, count) + references] + leaves, sizes: 2))
        try shape.check()
        #expect(shape.steps == count + 1)
    }

    @Test(arguments: [(512, true), (513, false), (5_000, false)])
    func `a binary property list can be nested 512 levels deep and no deeper`(depth: Int, isTaken: Bool) {
        let arrays = (1..<depth).map { [0xA1] + Self.number($0, 2) } + [[0xA0]]
        #expect((Self.reason(Self.list(arrays, sizes: 2)) == nil) == isTaken)
    }

    @Test(
        arguments: [
            [[0x07]], [[0x15] + [UInt8](repeating: 0, count: 32)], [[0x13, 1]], [[0x21, 0, 0]], [[0x31, 0, 0]],
            [[0x70]], [[0x90]], [[0xB0]], [[0xE0]], [[0xF0]], [[0x5F]], [[0x5F, 0x20]], [[0x5F, 0x14, 0]],
            [[0x55, 0x61]], [[0x63, 0, 0x61]], [[0xA5, 0]], [[0xD1, 0]], [head(0x40, 1 << 30)], [head(0xD0, 1 << 30)],
        ] as [[[UInt8]]])
    func `a binary property list with an invalid or incomplete object is refused`(objects: [[UInt8]]) {
        #expect(Self.reason(Self.list(objects)) == "the binary property list is incomplete or damaged")
    }
}
