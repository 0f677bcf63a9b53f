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
        // A dictionary by other keys is a list, in which each key is before its value.
        let ranks = Dictionary(uniqueKeysWithValues: (0..<9).map { (Rank(number: 9 - $0), $0) })
        let list = (1...9).flatMap { number -> [DynamicValue] in [["number": .init(number)], .init(9 - number)] }
        #expect(try DynamicValue(encoding: ["ranks": ranks]) == ["ranks": .array(list)])
    }

    private struct Rank: Encodable, Hashable {
        let number: Int
    }

    private struct Scores: Encodable {
        var scores = [1.5, .infinity, -.infinity]
        var last = Float.nan
        var path = "a/\"b\"\n\u{1}ü"
        var born: Set<Date> = [Date(timeIntervalSince1970: 0)]
    }

    @Test func `what JSON cannot represent is kept`() throws {
        let value = try DynamicValue.Members(encoding: Scores())
        #expect(value["scores"] == [1.5, .init(Double.infinity), .init(-Double.infinity)])
        #expect(value["last"]?.number?.literal == "nan" && value["path"] == "a/\"b\"\n\u{1}ü")
        #expect(value["born"] == [.date(Date(timeIntervalSince1970: 0))])
    }

    /// Adds a member twice, and ignores that another fails.
    private struct Careless: Encodable {
        let isDeep: Bool

        func encode(to encoder: any Encoder) throws {
            var container = encoder.container(keyedBy: Dog.Keys.self)
            try container.encode(1, forKey: .name)
            try container.encode(2, forKey: .name)
            do { if isDeep { try container.encode(Loop(), forKey: .list) } } catch {}
        }
    }

    @Test func `a name may be given twice, as in a form, and too deep a value is refused whoever caught it`() throws {
        #expect(try DynamicValue.Members(encoding: Careless(isDeep: false)).map(\.value) == [1, 2])
        let error = #expect(throws: NetworkError.self) { try DynamicValue(encoding: Careless(isDeep: true)) }
        #expect(error?.code == .invalidParameters)
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
