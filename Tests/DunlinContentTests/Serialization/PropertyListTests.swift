import Dunlin
import FoundationEssentials
import LedgerRows
import Testing

@testable import DunlinContent

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

    @Test(.rows("RS-43", "RS-44", "CO-8"), arguments: [.xml, .binary] as [PropertyListDecoder.PropertyListFormat])
    func `a property list is read in XML form and in binary form`(format: PropertyListDecoder.PropertyListFormat) throws
    {
        let response = Replies.made(try Self.written(format, Self.item), type: "application/x-plist")
        let serializer = PropertyListSerializer(Item.self)
        try serializer.validate(response)
        #expect(try serializer.serialize(response) == Self.item)
        #expect(throws: NetworkError.self) { try serializer.validate(Replies.made("x", type: "application/xml")) }
    }

    @Test(
        arguments: [
            "(a, b)", "{a = b;}", "\"a\"", "/* <plist/> */ (a)", "", "x", "[]", "bplist00", "bplist00\u{1}\u{2}",
            "bplist15\u{1}\u{2}",
            "<!DOCTYPE plist [<!ENTITY a \"b\">]><plist><string>&a;</string></plist>",
        ])
    func `a body that is no property list is refused`(text: String) {
        let failure = Replies.failure {
            _ = try PropertyListSerializer([String].self).serialize(Replies.made(Bytes(text)))
        }
        #expect(failure?.code == (text.isEmpty ? .noContent : .unreadableContent))
    }

    @Test func `a binary property list that is cut or changed anywhere does no harm`() throws {
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
