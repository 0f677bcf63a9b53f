import Dunlin
import FoundationEssentials
import LedgerRows
import Testing

@testable import DunlinJSON

@Suite struct `Encodable values become dynamic ones` {
    private struct Draft: Encodable {
        var name = "Ada"
        var age: Int? = nil
        var tags = ["x", "y"]
        var isNew = true
        var score = 1.5
        var born = Date(timeIntervalSince1970: 0)
        var home = URL(string: "http://a.test/")
        var price = Decimal(string: "19.90") ?? 0
        var raw = Data([1, 2])
        var more: [String: DynamicValue] = ["z": 1, "b": nil]
    }

    @Test func `an encoded value keeps its dates, data, decimals and the order of its members`() throws {
        let members = try DynamicValue.Members(encoding: Draft())
        #expect(members.map(\.key) == ["name", "tags", "isNew", "score", "born", "home", "price", "raw", "more"])
        #expect(members["born"] == .date(Date(timeIntervalSince1970: 0)) && members["home"] == "http://a.test/")
        #expect(members["price"]?.number?.literal == "19.9" && members["raw"] == .data([1, 2]))
        #expect(members["isNew"] == true && members["more"] == ["b": nil, "z": 1])
    }

    private class Animal: Encodable {
        var legs = 4
    }

    private final class Dog: Animal {
        enum Keys: String, CodingKey { case name, nested, list, late }

        override func encode(to encoder: any Encoder) throws {
            var container = encoder.container(keyedBy: Keys.self)
            try container.encode("Rex", forKey: .name)
            var late = container.nestedUnkeyedContainer(forKey: .late)
            var nested = container.nestedContainer(keyedBy: Keys.self, forKey: .nested)
            try nested.encodeNil(forKey: .name)
            var list = container.nestedUnkeyedContainer(forKey: .list)
            try list.encode(1)
            var inner = list.nestedContainer(keyedBy: Keys.self)
            try inner.encode(true, forKey: .name)
            var deeper = list.nestedUnkeyedContainer()
            try deeper.encodeNil()
            #expect(list.count == 3 && list.codingPath.count == 1)
            try late.encode("kept")
            try super.encode(to: container.superEncoder())
        }
    }

    @Test func `a value can be encoded with any containers in any order`() throws {
        let value = try DynamicValue(encoding: Dog())
        #expect(
            value == [
                "name": "Rex", "late": ["kept"], "nested": ["name": nil], "list": [1, ["name": true], [nil]],
                "super": ["legs": 4],
            ])
    }

    private struct Nothing: Encodable {
        func encode(to encoder: any Encoder) {}
    }

    private final class Loop: Encodable {
        func encode(to encoder: any Encoder) throws {
            var container = encoder.unkeyedContainer()
            try container.encode(self)
        }
    }

    @Test(.rows("RQ-21")) func `dictionaries and sets are encoded in the same order in every process`() throws {
        let dictionary = Dictionary(uniqueKeysWithValues: (0..<50).map { ("k\($0)", $0) })
        #expect(try DynamicValue.Members(encoding: dictionary).map(\.key) == dictionary.keys.sorted())
        #expect(try DynamicValue(encoding: Set([10, 9, 2])) == [10, 2, 9])
    }

    @Test func `an endless value is refused, and so is a list where members are needed`() throws {
        #expect(try DynamicValue(encoding: Nothing()) == [:])
        #expect(try DynamicValue(encoding: UInt128.max).number?.literal == "\(UInt128.max)")
        let cycle = #expect(throws: NetworkError.self) { try DynamicValue(encoding: Loop()) }
        #expect(cycle?.code == .invalidParameters)
        let list = #expect(throws: NetworkError.self) { try DynamicValue.Members.encoding([1]) }
        #expect(list?.code == .invalidParameters)
    }
}
