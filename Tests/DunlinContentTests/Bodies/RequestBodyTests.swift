import Dunlin
import FoundationEssentials
import LedgerRows
import Mocking
import Testing

@testable import DunlinContent
@testable import DunlinTransfers

@Suite struct `Request bodies` {
    private static func text(_ body: RequestBody) -> String? {
        if case .bytes(let bytes) = body.content { String(bytes) } else { nil }
    }

    @Test func `a form body is made of pairs, of parameters or of an encoded value`() throws {
        let (scope, page) = ("write", 2)
        let bodies: [(RequestBody, String)] = [
            (
                .form(["grant_type": "client_credentials", "scope": "read", "scope": scope]),
                "grant_type=client_credentials&scope=read&scope=write"
            ),
            (.form([:]), ""), (.form(["b": HTTP.QueryFlag(), "no": nil, "a": ""]), "b&a="),
            (try .form(["b": 1, "a": ["x": true]]), "b=1&a%5Bx%5D=1"),
            (try .form(["b": 1, "a": true], style: .init(bools: .words)), "a=true&b=1"),
            (.form(["page": .init(page), "page": "\(scope)"]), "page=2&page=write"),
            (try .form(encoding: User(id: 7, name: "a&b")), "id=7&name=a%26b"),
        ]
        for (body, expected) in bodies {
            #expect(Self.text(body) == expected)
            #expect(body.contentType == "application/x-www-form-urlencoded" && body.isReplayable)
        }
    }

    @Test(.rows("RQ-73", "LX-5")) func `a JSON body is made of literals or of an encoded value`() throws {
        #expect(
            Self.text(try .json(["name": "Ada", "tags": [1, "x", nil]])) == #"{"name":"Ada","tags":[1,"x",null]}"#)
        #expect(Self.text(try .json(["z": 1, "a": 2])) == #"{"z":1,"a":2}"#)
        #expect(Self.text(try .json([1, 2])) == "[1,2]")
        #expect(Self.text(try .json("x")) == "\"x\"")
        #expect(Self.text(try .json(User(id: 7, name: "Ada"))) == #"{"id":7,"name":"Ada"}"#)
        var json = HTTP.JSON()
        json.encoder = {
            let encoder = JSONEncoder()
            encoder.outputFormatting = [.sortedKeys, .prettyPrinted]
            return encoder
        }
        #expect(Self.text(try .json(User(id: 7, name: "Ada"), json))?.contains("\n") == true)
        #expect(try RequestBody.json([1]).contentType == "application/json")
        let error = #expect(throws: NetworkError.self) { try RequestBody.json(["a": 1, "a": 2]) }
        #expect(error?.code == .invalidParameters)
    }

    private static let list = """
        <?xml version="1.0" encoding="UTF-8"?>
        <!DOCTYPE plist PUBLIC "-//Apple//DTD PLIST 1.0//EN" "http://www.apple.com/DTDs/PropertyList-1.0.dtd">
        <plist version="1.0">
        <dict>
        \t<key>key</key>
        \t<string>value</string>
        </dict>
        </plist>

        """

    @Test(.rows("RQ-78", "LX-6")) func `a property list body is written in Apple's own text`() throws {
        let body = try RequestBody.propertyList(["key": "value"])
        #expect(Self.text(body) == Self.list)
        #expect(body.contentType == "application/x-plist")
        #expect(Self.text(try .propertyList(["key": "value"] as [String: String])) == Self.list)
    }

    @Test(.rows("RQ-77"), arguments: [RequestBody.PropertyListFormat.xml, .binary])
    func `a property list body keeps every kind of value`(format: RequestBody.PropertyListFormat) throws {
        let value: DynamicValue = [
            "b": true, "i": -7, "u": 18_446_744_073_709_551_615, "d": 1.5, "s": "ä<&", "x": .data([0, 1]),
            "t": .date(Date(timeIntervalSince1970: 60)), "a": [1, [2], [:]],
        ]
        let body = try RequestBody.propertyList(value, format)
        guard case .bytes(let bytes) = body.content else { throw CancellationError() }
        #expect(body.contentType == "application/x-plist")
        #expect(bytes.starts(with: format == .binary ? "bplist00".utf8 : "<?xml".utf8))
        let read = try PropertyListDecoder().decode(DynamicValue.self, from: Data(bytes))
        let keys = try #require(value.members?.map(\.key))
        for key in keys where key != "u" { #expect(read[key] == value[key], "\(key)") }
    }

    static let unlisted: [DynamicValue] = [
        nil, [nil], .set([1]), ["a": 1, "a": 2], ["\u{E9}": 1, "e\u{301}": 2],
        (0..<600).reduce(1) { value, _ in [value] },
    ]

    @Test(.rows("RQ-79"), arguments: unlisted)
    func `a value that a property list cannot express is refused`(value: DynamicValue) {
        for format in [RequestBody.PropertyListFormat.xml, .binary] {
            let error = #expect(throws: NetworkError.self) { try RequestBody.propertyList(value, format) }
            #expect(error?.code == .invalidParameters)
        }
    }

    @Test func `a date that no calendar has is refused in a property list`() {
        let error = #expect(throws: NetworkError.self) {
            try RequestBody.propertyList(.date(Date(timeIntervalSince1970: .nan)))
        }
        #expect(error?.code == .invalidParameters)
    }
}
