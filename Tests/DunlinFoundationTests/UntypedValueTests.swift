import Dunlin
import DunlinFoundation
import Foundation
import Testing

/// What Foundation hands over as `Any`.
@Suite struct `Untyped values of Foundation's` {
    private static func read(_ text: String) throws -> DynamicValue {
        try DynamicValue(any: JSONSerialization.jsonObject(with: Data(text.utf8), options: .fragmentsAllowed))
    }

    /// What JSONSerialization read, and the same written by us.
    @Test(arguments: [
        ("0", "0"), ("1", "1"), ("-1", "-1"), ("1.0", "1"), ("0.0", "0"), ("-0.0", "-0"), ("1.5", "1.5"),
        ("0.1", "0.1"),
        ("true", "true"), ("false", "false"), ("null", "null"), ("[]", "[]"), ("{}", "{}"),
        ("[0,1,true,false,null,\"0\"]", "[0,1,true,false,null,\"0\"]"), ("[[1],{\"a\":0}]", "[[1],{\"a\":0}]"),
        ("2", "2"), ("255", "255"), ("9007199254740993", "9007199254740993"),
        ("9223372036854775807", "9223372036854775807"), ("-9223372036854775808", "-9223372036854775808"),
        ("18446744073709551615", "18446744073709551615"),
        ("123456789012345678901234567890", "123456789012345678901234567890"), ("1e300", "1e+300"),
        ("{\"a\":{\"b\":[1,{\"c\":0,\"d\":null}]}}", "{\"a\":{\"b\":[1,{\"c\":0,\"d\":null}]}}"),
    ])
    func `an untyped value keeps what JSONSerialization read`(text: String, written: String) throws {
        let value = try Self.read(text)
        #expect(String(try value.json(DynamicValue.JSONFormat(order: .sorted))) == written)
    }

    @Test func `an untyped dictionary gives parameters of the same types`() throws {
        let text = #"{"a":0,"b":1,"c":true,"d":false,"e":null,"f":[1,true]}"#
        let read = try JSONSerialization.jsonObject(with: Data(text.utf8))
        let dictionary = try #require(read as? [String: Any])
        let parameters = try HTTP.Parameters(any: dictionary)
        #expect(parameters == ["a": 0, "b": 1, "c": true, "d": false, "e": nil, "f": [1, true]])
        let query = try HTTP.Query(parameters, style: HTTP.ParameterStyle(bools: .words))
        #expect(query.encoded == "a=0&b=1&c=true&d=false&e&f%5B%5D=1&f%5B%5D=true")
    }

    static let objects: [(@Sendable () -> Any, DynamicValue)] = [
        ({ NSNumber(value: true) }, true), ({ NSNumber(value: false) }, false), ({ NSNumber(value: 1) }, 1),
        ({ NSNumber(value: Int8(0)) }, 0), ({ NSNumber(value: UInt8(1)) }, 1), ({ NSNumber(value: 1.0) }, 1),
        ({ NSNumber(value: Float(0.1)) }, 0.1), ({ NSNumber(value: UInt64.max) }, 18_446_744_073_709_551_615),
        ({ NSNumber(value: Int64.min) }, -9_223_372_036_854_775_808),
        ({ NSNumber(value: 0.1 + 0.2) }, 0.30000000000000004),
        ({ NSDecimalNumber(string: "1.1") }, 1.1), ({ NSDecimalNumber(string: "1") }, 1), ({ NSNull() }, nil),
        ({ NSString("1") }, "1"), ({ NSArray(array: [1, true, NSNull()]) }, [1, true, nil]),
        ({ NSDictionary(dictionary: ["a": 1, "b": false]) }, ["a": 1, "b": false]), ({ NSSet(array: [1]) }, .set([1])),
        ({ NSDate(timeIntervalSince1970: 1) }, .date(Date(timeIntervalSince1970: 1))),
        ({ NSData(data: Data([1])) }, .data([1])),
        ({ NSNumber?.some(NSNumber(value: 1)) as Any }, 1), ({ NSNumber?.none as Any }, nil),
    ]

    @Test(arguments: objects.indices)
    func `an untyped object gives the value that it stands for`(row: Int) throws {
        let (object, value) = Self.objects[row]
        #expect(try DynamicValue(any: object()) == value)
    }

    @Test func `a number that is not finite is refused on writing, another object at once`() throws {
        for odd in [NSNumber(value: Double.nan), NSNumber(value: -Float.infinity), NSDecimalNumber.notANumber] {
            let value = try DynamicValue(any: odd)
            #expect(throws: NetworkError.self) { try value.json() }
        }
        let error = #expect(throws: NetworkError.self) { try DynamicValue(any: NSObject()) }
        #expect(error?.code == .invalidParameters)
    }
}
