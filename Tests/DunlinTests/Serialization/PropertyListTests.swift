import FoundationEssentials
import Testing

@testable import Dunlin

@Suite struct `Property lists` {
    private struct Item: Codable, Equatable {
        var name: String
        var tags: [String]
        var data: Data
        var date: Date
    }

    private static let item = Item(
        name: "ä", tags: ["a", "a"], data: Data([1, 2]), date: Date(timeIntervalSinceReferenceDate: 60))

    private static func written(_ format: PropertyListDecoder.PropertyListFormat, _ value: some Encodable) throws
        -> Bytes
    {
        let encoder = PropertyListEncoder()
        encoder.outputFormat = format
        return Bytes(try encoder.encode(value))
    }

    @Test(arguments: [.xml, .binary] as [PropertyListDecoder.PropertyListFormat])
    func `are read in either form`(format: PropertyListDecoder.PropertyListFormat) throws {
        let response = Replies.made(try Self.written(format, Self.item), type: "application/x-plist")
        let serializer = PropertyListSerializer(Item.self)
        try serializer.validate(response)
        #expect(try serializer.serialize(response) == Self.item)
        #expect(throws: NetworkError.self) { try serializer.validate(Replies.made("x", type: "application/xml")) }
    }

    @Test(
        arguments: [
            "(a, b)", "{a = b;}", "", "x", "[]", "bplist00", "bplist00\u{1}\u{2}",
            "<!DOCTYPE plist [<!ENTITY a \"b\">]><plist><string>&a;</string></plist>",
        ])
    func `that are none are refused`(text: String) {
        let failure = Replies.failure {
            _ = try PropertyListSerializer([String].self).serialize(Replies.made(Bytes(text)))
        }
        #expect(failure?.code == (text.isEmpty ? .noContent : .unreadableContent))
    }

    @Test(arguments: [(512, true), (513, false), (200_000, false)])
    func `in XML may be nested so deep and no deeper`(depth: Int, isTaken: Bool) {
        for hidden in ["", "<!--</array>-->", "<?</array>?>"] {
            let text = "<plist>" + String(repeating: "<array>" + hidden, count: depth - 1)
            #expect(Self.isTaken(Bytes(text)) == isTaken)
        }
        let quoted = String(repeating: "<array a=\"/>\">", count: depth)
        #expect(Self.isTaken(Bytes(quoted)) == isTaken)
        #expect(Self.isTaken(Bytes(String(repeating: "<array/>", count: depth))))
    }

    private static func isTaken(_ body: Bytes) -> Bool {
        do throws(PropertyListShape.Refusal) {
            _ = try PropertyListShape.check(body)
            return true
        } catch {
            return false
        }
    }

    /// Arrays of references, each object one byte long and its references one byte each.
    private static func binary(_ arrays: [[UInt8]]) -> Bytes {
        var bytes = Array("bplist00".utf8)
        var offsets: [UInt8] = []
        for array in arrays {
            offsets.append(UInt8(bytes.count))
            bytes.append(0xA0 | UInt8(array.count))
            bytes += array
        }
        let table = UInt8(bytes.count)
        bytes += offsets
        bytes += [0, 0, 0, 0, 0, 0, 1, 1]
        bytes += [0, 0, 0, 0, 0, 0, 0, UInt8(arrays.count)] + [UInt8](repeating: 0, count: 8)
        return Bytes(bytes + [0, 0, 0, 0, 0, 0, 0, table])
    }

    @Test(
        arguments: [
            ([[]], true), ([[1], []], true), ([[1, 2], [], []], true), ([[0]], false), ([[1], [0]], false),
            ([[1, 1], []], false), ([[1, 1, 1], [2, 2, 2], [3, 3, 3], []], false), ([[7]], false),
        ] as [([[UInt8]], Bool)])
    func `in binary form are trees and nothing else`(arrays: [[UInt8]], isTaken: Bool) {
        #expect(Self.isTaken(Self.binary(arrays)) == isTaken)
    }

    @Test func `in binary form may be cut or changed anywhere`() throws {
        let whole = try Self.written(.binary, Self.item)
        for count in 0..<whole.count {
            _ = Replies.failure { _ = try PropertyListSerializer(Item?.self).serialize(Replies.made(whole[0..<count])) }
        }
        for index in 8..<whole.count {
            for value: UInt8 in [0, 0x7F, 0x80, 0xFF, 0xAF, 0xDF] {
                var changed = whole.array
                changed[index] = value
                _ = Replies.failure {
                    _ = try PropertyListSerializer(Item?.self).serialize(Replies.made(Bytes(changed)))
                }
            }
        }
    }
}
