import Dunlin
import FoundationEssentials
import Testing

@Suite struct `The meaning of JSON` {
    private struct User: Codable, Equatable {
        struct Address: Codable, Equatable {
            var street: String
            var zip: Int?
        }

        enum Role: String, Codable { case admin, guest }

        var id: Int
        var name: String
        var address: Address?
        var roles: [Role]
        var scores: [String: Double]
        var byNumber: [Int: Bool]
    }

    private static let user = """
        {"id": 7, "name": "Ada \\u00e9\\ud83d\\ude00", "address": {"street": "a\\/b", "zip": null}, "roles": ["admin"],
         "scores": {"a_b": 1.5, "c": -0}, "byNumber": {"1": true}, "unknown": [{}]}
        """

    @Test func `a value is read as Foundation reads it, and written as Foundation writes it`() throws {
        let value = try HTTP.JSON.standard.decode(User.self, from: Bytes(Self.user))
        #expect(value == (try JSONDecoder().decode(User.self, from: Data(Self.user.utf8))))
        #expect(value.name == "Ada é😀" && value.address == User.Address(street: "a/b", zip: nil))
        let again = try HTTP.JSON.standard.encode(value)
        #expect(try JSONDecoder().decode(User.self, from: Data(again)) == value)
        expectSameWritten(value)
    }

    static let scalars = [
        "0", "-0", "1", "-1", "127", "128", "-128", "-129", "255", "256", "65535", "65536", "4294967296",
        "9223372036854775807", "9223372036854775808", "-9223372036854775808", "-9223372036854775809",
        "18446744073709551615", "18446744073709551616", "170141183460469231731687303715884105727",
        "-170141183460469231731687303715884105728", "340282366920938463463374607431768211455", "1.0", "1e2", "12.50e1",
        "1e400", "-1e400", "0.1", "1.10", "5e-324", "2.2250738585072014e-308", "1.7976931348623157e308", "16777217",
        "3.4028235e38", "3.4028236e38", "123456789.123456789", "0.30000000000000004", "9007199254740993", "1e22",
        "1e23",
        "true", "false", "null", "\"\"", "\"1\"", "\"x\"", "[]", "{}", "[1]", "{\"a\":1}",
    ]

    @Test(arguments: scalars)
    func `a scalar of any type is read as Foundation reads it, in every kind of container`(text: String) {
        func expect<Value: Decodable>(_ type: Value.Type) {
            expectSame(type, text)
            expectSame([Value].self, "[\(text)]")
            expectSame(Value?.self, text)
            expectSame([String: Value].self, "{\"k\":\(text)}")
            expectSame(Held<Value>.self, "{\"value\":\(text)}")
            expectSame(Perhaps<Value>.self, "{\"value\":\(text)}")
            expectSame(Perhaps<Value>.self, "{\"other\":\(text)}")
        }
        let isWhole = !text.contains(".") && !text.contains("e")
        expect(Bool.self)
        expect(String.self)
        expect(Double.self)
        expect(Float.self)
        expect(Int.self)
        expect(Int8.self)
        expect(Int16.self)
        expect(Int32.self)
        expect(Int64.self)
        expect(UInt.self)
        expect(UInt8.self)
        expect(UInt16.self)
        expect(UInt32.self)
        expect(UInt64.self)
        if isWhole {
            expect(Int128.self)
            expect(UInt128.self)
        }
        expect(Decimal.self)
        // Foundation cannot print a date that is too far away.
        if abs(Double(text) ?? 0) < 1e9 { expect(Date.self) }
        expect(Data.self)
        expect(UUID.self)
        expect(URL.self)
        expect([Int].self)
        expect([String].self)
        expect([Double].self)
        expect([String: Int].self)
    }

    private struct Held<Value: Decodable>: Decodable {
        var value: Value
    }

    private struct Perhaps<Value: Decodable>: Decodable {
        var value: Value?
    }

    @Test func `doubles and floats are read to the nearest and written in the fewest digits`() throws {
        var random = SystemRandomNumberGenerator()
        let doubles = (0..<5000).map { _ in Double(bitPattern: random.next()) }.filter(\.isFinite)
        let floats = (0..<5000).map { _ in Float(bitPattern: random.next()) }.filter(\.isFinite)
        #expect(try HTTP.JSON.standard.decode([Double].self, from: HTTP.JSON.standard.encode(doubles)) == doubles)
        #expect(try HTTP.JSON.standard.decode([Float].self, from: HTTP.JSON.standard.encode(floats)) == floats)
        expectSameWritten(doubles.filter { !$0.isZero })
        expectSameWritten(floats)
        for exponent in -30...30 {
            let text = "12345678901234567e\(exponent)"
            #expect(try HTTP.JSON.standard.decode(Double.self, from: Bytes(text)) == Double(text))
            #expect(
                try HTTP.JSON.standard.decode(Float.self, from: Bytes("16777217e\(exponent)"))
                    == Float("16777217e\(exponent)"))
        }
    }

    // MARK: Strategies

    private struct Named: Codable, Equatable {
        var firstName = 1
        var myURL = 2
        var aBC = 3
        var nested = ["keep_me": ["inner_key": 1]]
    }

    @Test func `names in snake case are names of members, and keys of dictionaries are not`() throws {
        let decoder = JSONDecoder()
        decoder.keyDecodingStrategy = .convertFromSnakeCase
        let encoder = JSONEncoder()
        encoder.keyEncodingStrategy = .convertToSnakeCase
        expectSameWritten(Named(), .snakeCase, encoder)
        let text = #"{"first_name":1,"myUrl":2,"my_url":3,"a_b_c":3,"nested":{"keep_me":{"inner_key":1}}}"#
        expectSame(Named.self, text, .snakeCase, decoder)
        expectSame(Named.self, text.replacing("myUrl", with: "myURL"), .snakeCase, decoder)
        for name in [
            "first_name", "_a_b_", "__", "a__b", "a_B", "URL_string", "a", "_", "a_1b", "x1_y2", "", "é_à", "a_ß",
            "a_o'neill", "a_中b", "x_'y", "a_1'b",
        ] {
            expectSame([String].self, "[]", .snakeCase, decoder)
            expectSame(Names.self, "{\"\(name)\":1}", .snakeCase, decoder)
        }
        for name in [
            "firstName", "URLString", "myURL", "a1B2", "x_y", "_aB_", "aBC", "HTTPServer2Go", "ABC1d", "", "Éa", "A",
        ] {
            expectSameWritten(Names(names: [name]), .snakeCase, encoder)
        }
    }

    /// The names that a container has.
    private struct Names: Codable {
        var names: [String]

        init(names: [String]) { self.names = names }

        init(from decoder: any Decoder) throws {
            names = try decoder.container(keyedBy: AnyKey.self).allKeys.map(\.stringValue).sorted()
        }

        func encode(to encoder: any Encoder) throws {
            var container = encoder.container(keyedBy: AnyKey.self)
            for name in names { try container.encode(1, forKey: AnyKey(stringValue: name)) }
        }
    }

    struct AnyKey: CodingKey {
        var stringValue: String
        var intValue: Int?
        init(stringValue: String) { self.stringValue = stringValue }
        init?(intValue: Int) { return nil }
    }

    @Test func `names are converted by functions of the user's own, which get the path`() {
        let decoder = JSONDecoder()
        let encoder = JSONEncoder()
        var json = HTTP.JSON()
        let decode: @Sendable ([any CodingKey]) -> any CodingKey = { path in
            AnyKey(stringValue: String((path.last?.stringValue ?? "").dropFirst(path.count)))
        }
        let encode: @Sendable ([any CodingKey]) -> any CodingKey = { path in
            AnyKey(stringValue: String(repeating: "_", count: path.count) + (path.last?.stringValue ?? ""))
        }
        decoder.keyDecodingStrategy = .custom(decode)
        encoder.keyEncodingStrategy = .custom(encode)
        json.keys = .custom(decode: decode, encode: encode)
        expectSameWritten(Named(), json, encoder)
        expectSame(
            Named.self, #"{"_firstName":1,"_myURL":2,"_aBC":3,"_nested":{"keep_me":{"inner_key":1}}}"#, json, decoder)
    }

    @Test func `dates are read and written in every form there is`() throws {
        let dates = [0, 1.5, -1.25, 1_714_564_800, 0.123456].map { Date(timeIntervalSince1970: $0) }
        let forms:
            [(HTTP.JSON.DateCoding, JSONDecoder.DateDecodingStrategy, JSONEncoder.DateEncodingStrategy, [Date])] = [
                (.deferred, .deferredToDate, .deferredToDate, dates),
                (.secondsSince1970, .secondsSince1970, .secondsSince1970, dates),
                (.millisecondsSince1970, .millisecondsSince1970, .millisecondsSince1970, dates),
                (.iso8601, .iso8601, .iso8601, dates),
                (
                    .custom(
                        decode: { Date(timeIntervalSince1970: try $0.singleValueContainer().decode(Double.self) / 7) },
                        encode: { date, encoder in
                            var container = encoder.singleValueContainer()
                            try container.encode(date.timeIntervalSince1970 * 7)
                        }),
                    .custom { Date(timeIntervalSince1970: try $0.singleValueContainer().decode(Double.self) / 7) },
                    .custom { date, encoder in
                        var container = encoder.singleValueContainer()
                        try container.encode(date.timeIntervalSince1970 * 7)
                    }, dates
                ),
            ]
        for (form, decoding, encoding, dates) in forms {
            var json = HTTP.JSON()
            json.dates = form
            let decoder = JSONDecoder()
            decoder.dateDecodingStrategy = decoding
            let encoder = JSONEncoder()
            encoder.dateEncodingStrategy = encoding
            expectSameWritten(dates, json, encoder)
            expectSameWritten(["d": dates[1]], json, encoder)
            expectSame([Date].self, String(try json.encode(dates)), json, decoder)
            expectSame(Date.self, "true", json, decoder)
            expectSame(Date.self, "null", json, decoder)
            expectSame([String: Date].self, "{\"d\":\"x\"}", json, decoder)
        }
    }

    @Test(arguments: [
        ("2024-05-01T12:00:00Z", 1_714_564_800), ("2024-05-01T12:00:00.5Z", 1_714_564_800.5),
        ("2024-05-01T12:00:00.123456789Z", 1_714_564_800.123456789), ("2024-05-01T12:00:00+02:00", 1_714_557_600),
        ("2024-05-01T12:00:00-0230", 1_714_573_800), ("2024-05-01t12:00:00z", 1_714_564_800),
        ("2024-05-01T23:59:60Z", 1_714_608_000), ("1969-12-31T23:59:59.5Z", -0.5),
        ("0001-01-01T00:00:00Z", -62_135_596_800),
    ])
    func `a date of ISO 8601 may have a fraction and any zone`(text: String, seconds: Double) throws {
        for json in [HTTP.JSON.iso8601, Self.withFractions] {
            let date = try json.decode(Date.self, from: Bytes("\"\(text)\""))
            #expect(abs(date.timeIntervalSince1970 - seconds) < 1e-6)
        }
    }

    @Test(arguments: [
        "", "2024-05-01", "2024-05-01T12:00:00", "2024-02-30T12:00:00Z", "2024-05-01T24:00:00Z", "2024-05-01T12:60:00Z",
        "2024-05-01T12:00:61Z", "2024-05-01T12:00:00Zx", " 2024-05-01T12:00:00Z", "2024-5-1T12:00:00Z",
        "2024-05-01T12:00Z",
        "2024-05-01T12:00:00.Z", "2024-05-01T12:00:00+24:00", "2024-05-01T12:00:00+1", "+2024-05-01T12:00:00Z",
        "٢٠٢٤-05-01T12:00:00Z",
    ])
    func `an invalid date of ISO 8601 is refused`(text: String) {
        #expect(throws: DecodingError.self) { try HTTP.JSON.iso8601.decode(Date.self, from: Bytes("\"\(text)\"")) }
    }

    private static var withFractions: HTTP.JSON {
        var json = HTTP.JSON()
        json.dates = .iso8601WithFractions
        return json
    }

    @Test func `dates are written with milliseconds if that is asked for`() throws {
        let dates = [0, 1.25, -0.001, 1e9].map { Date(timeIntervalSince1970: $0) }
        let texts = try HTTP.JSON.standard.decode([String].self, from: Self.withFractions.encode(dates))
        #expect(texts.first == "1970-01-01T00:00:00.000Z" && texts[1] == "1970-01-01T00:00:01.250Z")
        #expect(texts[2] == "1969-12-31T23:59:59.999Z" && texts[3] == "2001-09-09T01:46:40.000Z")
        #expect(throws: EncodingError.self) { try HTTP.JSON.iso8601.encode(Date(timeIntervalSince1970: 1e12)) }
        #expect(throws: EncodingError.self) { try HTTP.JSON.iso8601.encode(Date(timeIntervalSince1970: .nan)) }
    }

    @Test func `data is read and written as Base64, as its own type does and by functions`() throws {
        let data = [Data(), Data([0, 255, 254]), Data((0...200).map { UInt8($0) })]
        expectSameWritten(data)
        expectSame([Data].self, String(try HTTP.JSON.standard.encode(data)))
        var json = HTTP.JSON()
        let decoder = JSONDecoder()
        let encoder = JSONEncoder()
        json.data = .deferred
        decoder.dataDecodingStrategy = .deferredToData
        encoder.dataEncodingStrategy = .deferredToData
        expectSameWritten(data, json, encoder)
        expectSame([Data].self, "[[],[0,255],[256]]", json, decoder)
        expectSame([Data].self, "[\"AP8=\"]", json, decoder)
        json.data = .custom(
            decode: { Data(try $0.singleValueContainer().decode(String.self).utf8) },
            encode: { data, encoder in
                var container = encoder.singleValueContainer()
                try container.encode(data.count)
            })
        decoder.dataDecodingStrategy = .custom { Data(try $0.singleValueContainer().decode(String.self).utf8) }
        encoder.dataEncodingStrategy = .custom { data, encoder in
            var container = encoder.singleValueContainer()
            try container.encode(data.count)
        }
        expectSameWritten(data, json, encoder)
        expectSame([Data].self, "[\"AP8=\",1]", json, decoder)
    }

    @Test func `infinite numbers and NaN are refused, or written and read as their texts`() {
        let numbers = [1, Double.infinity, -.infinity, .nan]
        for number in numbers { expectSameWritten(number) }
        var json = HTTP.JSON()
        json.nonFinite = .text(positiveInfinity: "+∞", negativeInfinity: "-∞", nan: "?")
        let encoder = JSONEncoder()
        encoder.nonConformingFloatEncodingStrategy = .convertToString(
            positiveInfinity: "+∞", negativeInfinity: "-∞", nan: "?")
        let decoder = JSONDecoder()
        decoder.nonConformingFloatDecodingStrategy = .convertFromString(
            positiveInfinity: "+∞", negativeInfinity: "-∞", nan: "?")
        expectSameWritten(numbers, json, encoder)
        expectSameWritten(numbers.map { Float($0) }, json, encoder)
        for text in ["\"+∞\"", "\"-∞\"", "\"?\"", "\"x\"", "1", "null", "true"] {
            expectSame(Double.self, text, json, decoder)
            expectSame([Float].self, "[\(text)]", json, decoder)
        }
    }

    @Test func `a decoder and an encoder of the user's own take over`() throws {
        var json = HTTP.JSON()
        json.decoder = {
            let decoder = JSONDecoder()
            decoder.allowsJSON5 = true
            return decoder
        }
        json.encoder = {
            let encoder = JSONEncoder()
            encoder.outputFormatting = .prettyPrinted
            return encoder
        }
        #expect(try json.decode([Int].self, from: "[1,/* two */2,]") == [1, 2])
        #expect(String(try json.encode([1])) == "[\n  1\n]")
        #expect(try json.decode([String: Int].self, from: #"{"a":1,"a":2,}"#) == ["a": 1])
        #expect(throws: DecodingError.self) { try json.strict.decode([String: Int].self, from: #"{"a":1,"a":2}"#) }
    }

    @Test func `what is written can be indented, sorted and with plain slashes`() throws {
        var json = HTTP.JSON()
        json.format = DynamicValue.JSONFormat(order: .sorted, escapesSlashes: false, isIndented: true)
        let value: [String: DynamicValue] = ["b/c": [1, [:]], "a": ["z": nil, "y": 1.5], "c": []]
        let text = """
            {
              "a": {
                "y": 1.5,
                "z": null
              },
              "b/c": [
                1,
                {}
              ],
              "c": []
            }
            """
        #expect(String(try json.encode(value.mapValues { $0 })) == text)
        #expect(try HTTP.JSON.standard.decode([String: DynamicValue].self, from: Bytes(text)).count == 3)
    }
}
