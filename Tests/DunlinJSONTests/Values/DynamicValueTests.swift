import Dunlin
import FoundationEssentials
import LedgerRows
import Testing

@testable import DunlinJSON

@Suite struct `Dynamic values` {
    static let literals: [(DynamicValue, String)] = [
        (nil, "null"), (true, "true"), (false, "false"), (1, "1"), (-0, "0"),
        (18_446_744_073_709_551_615, "\(UInt64.max)"),
        (1.5, "1.5"), (3.0, "3"), (1e21, "1e+21"), ("x", "\"x\""), ("\(1)\("a")", "\"1a\""), ([], "[]"), ([:], "{}"),
        ([1, "a", [nil, true], ["k": 1.1]], "[1,\"a\",[null,true],{\"k\":1.1}]"),
        (["b": 1, "a": ["c": []]], "{\"b\":1,\"a\":{\"c\":[]}}"),
    ]

    @Test(.rows("RQ-75", "LX-3"), arguments: literals)
    func `a dynamic value can be made of literals of every kind`(value: DynamicValue, json: String) throws {
        #expect(String(try value.json()) == json)
    }

    @Test(.rows("RQ-14", "LX-3")) func `a boolean is never taken for a number`() throws {
        #expect(DynamicValue(true) != DynamicValue(1))
        #expect((true as DynamicValue).int == nil && (1 as DynamicValue).bool == nil)
        #expect(try DynamicValue(any: true) == .bool(true) && DynamicValue(any: 1) == 1)
        #expect(try DynamicValue(any: [true, 1, 0] as [Any]) == [true, 1, 0])
    }

    @Test(.rows("LX-8")) func `texts with different bytes are different values`() {
        let (one, two): (DynamicValue, DynamicValue) = ("\u{E9}", "e\u{301}")
        #expect(one != two)
        #expect(Set([one, two, one]).count == 2)
        let members: DynamicValue.Members = ["\u{E9}": 1, "e\u{301}": 2]
        #expect(members["\u{E9}"] == 1 && members["e\u{301}"] == 2)
    }

    @Test func `a dynamic value is read only as the type that it has`() {
        let value: DynamicValue = ["n": 7, "d": 1.5, "s": "7", "a": [1, 2], "x": nil]
        #expect(value["n"]?.int == 7 && value["n"]?.double == 7 && value["n"]?.string == nil)
        #expect(value["d"]?.int == nil && value["d"]?.double == 1.5)
        #expect(value["s"]?.int == nil && value["s"]?.string == "7")
        #expect(value["a"]?[1] == 2 && value["a"]?[2] == nil && value["a"]?[-1] == nil && value["a"]?["n"] == nil)
        #expect(value["x"]?.isNull == true && value["none"] == nil && value[0] == nil)
    }

    @Test func `members stay in order and are replaced in their place`() {
        var members: DynamicValue.Members = ["a": 1, "b": 2, "a": 3]
        #expect(members["a"] == 3)
        members["a"] = 4
        members["c"] = 5
        #expect(members == ["a": 4, "b": 2, "c": 5])
        members["b"] = nil
        members.append("a", 6)
        #expect(members.map(\.key) == ["a", "c", "a"])
        #expect(DynamicValue.Members(["b": 1, "a": 2]).map(\.key) == ["a", "b"])
    }

    static let numbers: [(String, Bool)] = [
        ("0", true), ("-0", true), ("1.10", true), ("1e5", true), ("1E+05", true), ("1.5e-3", true),
        ("123456789012345678901234567890.5", true), ("", false), ("-", false), ("01", false), ("+1", false),
        ("1.", false), (".5", false), ("1e", false), ("1e+", false), ("0x1", false), ("nan", false), ("1 ", false),
        ("١", false),
    ]

    @Test(arguments: numbers)
    func `a number keeps its literal, and an invalid literal is refused`(literal: String, isNumber: Bool) {
        let number = DynamicValue.Number(literal: literal)
        #expect(number?.literal == (isNumber ? literal : nil))
        #expect(number?.isFinite != false)
    }

    @Test func `a number can be made of every numeric type`() {
        #expect(DynamicValue.Number(0.1).literal == "0.1" && DynamicValue.Number(Float(0.1)).literal == "0.1")
        #expect(DynamicValue.Number(Decimal(string: "1.10") ?? 0).literal == "1.1")
        #expect(DynamicValue.Number(UInt64.max).integer(UInt64.self) == .max)
        #expect(DynamicValue.Number(UInt64.max).integer(Int64.self) == nil)
        #expect(DynamicValue.Number(Int128.min).integer() == Int128.min)
        for odd in [Double.nan, .infinity, -.infinity] { #expect(!DynamicValue.Number(odd).isFinite) }
    }

    @Test(.rows("RQ-15")) func `a dynamic value is made of an untyped one, and an unknown type is refused`() throws {
        let start = Date(timeIntervalSince1970: 0)
        let untyped: [(Any, DynamicValue)] = [
            ("x", "x"), (Int8(-1), -1), (Float(1.5), 1.5), ("abc".dropFirst(), "bc"), (Data([1]), .data([1])),
            (Int?.none as Any, nil), (Int?.some(3) as Any, 3), (Set([1, 2]), .set([1, 2])), (start, .date(start)),
            (["b": 1, "a": ["x", nil] as [Any?]] as [String: Any], ["a": ["x", nil], "b": 1]),
        ]
        for (untyped, value) in untyped { #expect(try DynamicValue(any: untyped) == value, "\(untyped)") }
        #expect(try DynamicValue.Members(any: ["b": 1, "a": true]) == ["a": true, "b": 1])
        let error = #expect(throws: NetworkError.self) { try DynamicValue(any: [1, Self.self] as [Any]) }
        #expect(error?.code == .invalidParameters)
    }

    /// Not by its stack: an encoder of others goes as deep as it is told.
    @Test(arguments: [(500, true), (513, false), (100_000, false)])
    func `a dynamic value is given to another encoder up to a limit of depth`(depth: Int, isFine: Bool) throws {
        var value = DynamicValue.array([])
        for _ in 1..<depth { value = .array([value]) }
        let text = try? JSONEncoder().encode(value)
        #expect((text != nil) == isFine)
        // Taken apart from outside: the end of a value goes as deep as it lies.
        while case .array(let elements) = value, let inner = elements.first { value = inner }
    }

    @Test func `a dynamic value passes unchanged through other encoders and decoders`() throws {
        let value: DynamicValue = ["a": [1, -1.5, true, nil, "x"], "b": ["c": 18_446_744_073_709_551_615]]
        let encoder = JSONEncoder()
        encoder.outputFormatting = .sortedKeys
        let text = try encoder.encode(value)
        #expect(
            String(decoding: text, as: UTF8.self) == #"{"a":[1,-1.5,true,null,"x"],"b":{"c":18446744073709551615}}"#)
        #expect(try JSONDecoder().decode(DynamicValue.self, from: text) == value)
        let list: DynamicValue = [
            "d": .date(Date(timeIntervalSince1970: 60)), "x": .data([1, 2]), "y": [1, 2.5, false],
        ]
        let encoded = try PropertyListEncoder().encode(list)
        #expect(try PropertyListDecoder().decode(DynamicValue.self, from: encoded) == list)
    }
}
