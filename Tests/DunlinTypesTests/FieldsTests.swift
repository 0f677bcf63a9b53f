import LedgerRows
import Testing

@testable import DunlinTypes

@Suite struct `Field lists` {
    static let cookies: Fields = ["Set-Cookie": "a", "Age": "1", "set-cookie": "b", "AGE": "2"]

    @Test(
        .rules("9110-5.1-1", "9110-5.2-1", "9110-5.3-2"),
        arguments: ["Set-Cookie", "set-cookie", "SET-COOKIE", "sEt-cOOkIE"])
    func `fields are found by name without case, in order, duplicates kept`(name: String) {
        #expect(Self.cookies[name] == "a")
        #expect(Self.cookies.values(of: name) == ["a", "b"])
        #expect(Self.cookies.contains(name))
    }

    @Test(arguments: ["Set-Cooki", "Set-Cookies", "", "Set_Cookie", "Set\rCookie"])
    func `fields are not found under another name`(name: String) {
        #expect(Self.cookies[name] == nil)
        #expect(Self.cookies.values(of: name).isEmpty)
        #expect(!Self.cookies.contains(name))
    }

    @Test(.rules("9110-5.1-1"), arguments: [("@", "`"), ("[", "{"), ("\u{C4}", "\u{E4}"), ("K", "\u{212A}")])
    func `field names fold ASCII letters only`(left: String, right: String) {
        #expect(([left: "x"] as Fields)[right] == nil)
    }

    @Test(arguments: [("set-", true), ("AGE", true), ("set-cookie", true), ("set-cookies", false), ("et-", false)])
    func `fields are found by how a name begins`(start: String, isThere: Bool) {
        #expect(Self.cookies.haveName(beginningWith: start) == isThere)
        #expect(!Fields().haveName(beginningWith: start))
    }

    @Test(.rules("9110-5.3-2", "9112-2.2-1")) func `all fields are there as bytes, in order and as received`() {
        let bytes: [UInt8] = [0x41, 0xFF, 0x62, 0xE4, 0x61]
        let fields = Fields(
            bytes: bytes, entries: [.init(name: 0..<1, value: 1..<2), .init(name: 4..<5, value: 2..<4)])
        #expect(fields.raw.map(\.name) == ["A", "a"])
        #expect(fields.raw.map(\.value) == [[0xFF], [0x62, 0xE4]])
        #expect(
            Self.cookies.raw.map { "\(String($0.name))=\(String($0.value))" }.joined(separator: " ")
                == "Set-Cookie=a Age=1 set-cookie=b AGE=2")
        #expect(Fields().raw.isEmpty)
    }

    @Test func `detached fields are the same, without the bytes that are no fields`() {
        let received = Array("HTTP/1.1 101 A\r\nAa: 1\r\naA: 23\r\n\r\n".utf8)
        let fields = Fields(
            bytes: received,
            entries: [.init(name: 16..<18, value: 20..<21, isSensitive: true), .init(name: 23..<25, value: 27..<29)])
        let detached = fields.detached()
        #expect(detached.map { "\($0.name)=\($0.value)" } == ["Aa=1", "aA=23"])
        #expect(detached.entries.map(\.isSensitive) == [true, false])
        #expect(detached.bytes == Array("Aa1aA23".utf8))
    }

    @Test func `a list of fields iterates in order and spells names as given`() {
        #expect(Self.cookies.map { "\($0.name)=\($0.value)" } == ["Set-Cookie=a", "Age=1", "set-cookie=b", "AGE=2"])
        #expect(Self.cookies.count == 4)
    }

    @Test(.rows("RQ-45")) func `setting a field replaces all of its name, and nil removes them`() {
        var fields = Self.cookies
        fields["SET-cookie"] = "c"
        #expect(fields == ["Age": "1", "AGE": "2", "SET-cookie": "c"])
        fields["age"] = nil
        #expect(fields == ["SET-cookie": "c"])
        fields.remove("Set-Cookie")
        #expect(fields.isEmpty)
        #expect(fields == Fields())
    }

    static let overlays: [(Fields, Fields, Fields)] = [
        (["A": "1", "B": "2"], [:], ["A": "1", "B": "2"]),
        ([:], ["A": "1"], ["A": "1"]),
        (["A": "1", "B": "2", "a": "3"], ["a": "4"], ["B": "2", "a": "4"]),
        (["A": "1"], ["a": "2", "A": "3"], ["a": "2", "A": "3"]),
        (["A": "1"], ["B": "2"], ["A": "1", "B": "2"]),
    ]

    @Test(arguments: overlays)
    func `overlaying fields replaces what is named and keeps the rest`(base: Fields, over: Fields, expected: Fields) {
        #expect(base.overlaid(with: over) == expected)
    }

    static let unequal: [(Fields, Fields)] = [
        (["A": "1"], ["A": "2"]), (["A": "1"], ["B": "1"]), (["A": "1"], ["A": "1", "B": "2"]),
        (["A": "1", "B": "2"], ["B": "2", "A": "1"]), (["A": "x"], ["A": "X"]),
    ]

    @Test(arguments: unequal)
    func `lists of fields differ by name, value, number and order`(left: Fields, right: Fields) {
        #expect(left != right)
        #expect(left == left)
    }

    @Test func `lists of fields are equal whatever lies between their ranges`() {
        let parsed = Fields(
            bytes: Array("x: 1\r\nY:  2\r\n".utf8),
            entries: [
                .init(name: 0..<1, value: 3..<4), .init(name: 6..<7, value: 10..<11),
            ])
        #expect(parsed == ["X": "1", "y": "2"])
    }

    @Test(arguments: [
        "Authorization", "proxy-authorization", "Cookie", "SET-COOKIE", "x-api-key", "Authentication-Info",
    ])
    func `fields that carry credentials by name are never printed`(name: String) {
        #expect("\([name: "hunter2", "Age": "1"] as Fields)" == "\(name): <redacted>\nAge: 1")
    }

    @Test func `fields that were marked are never printed, however they got there`() {
        var fields = Fields()
        fields.append(name: "X-Token", value: "hunter2", sensitive: true)
        fields.append(name: "X-Plain", value: "shown")
        var copied: Fields = ["Age": "1"]
        copied.append(contentsOf: fields)
        #expect("\(copied)" == "Age: 1\nX-Token: <redacted>\nX-Plain: shown")
        let overlaid = (["x-token": "old", "Age": "1"] as Fields).overlaid(with: fields)
        #expect("\(overlaid)" == "Age: 1\nX-Token: <redacted>\nX-Plain: shown")
        #expect(overlaid["x-token"] == "hunter2")
    }

    @Test(
        arguments: [
            ([], cookies), (["age"], ["Set-Cookie": "a", "set-cookie": "b"]), (["age", "set-cookie"], [:]),
            (["ag", "ages", ""], cookies),
        ] as [([String], Fields)])
    func `fields without some names are the others in order, and keep no bytes of these`(
        names: [String], left: Fields
    ) {
        let without = Self.cookies.without(names)
        #expect(without == left)
        #expect(without.bytes.count == left.raw.reduce(0) { $0 + $1.name.count + $1.value.count })
    }

    @Test(
        arguments: [
            (["Age": "1", "AGE": "1"], "1"), (["Age": "1", "Host": "2"], "1"), (["Age": "1", "AGE": "2"], nil),
            (["Host": "1"], nil), (["Age": "1", "age": "1", "aGE": "2"], nil), (["Age": ""], ""),
        ] as [(Fields, Bytes?)])
    func `a field that may occur once has no value if two differ`(fields: Fields, value: Bytes?) {
        #expect(fields.soleValue(of: "age") == value)
    }

    @Test func `fields are all among some names only if none is another or is marked`() {
        #expect(Self.cookies.areAll(among: ["age", "set-cookie", "host"]))
        #expect(!Self.cookies.areAll(among: ["age", "set-cooki"]))
        #expect(Fields().areAll(among: []))
        var marked = Fields()
        marked.append(name: "Age", value: "1", sensitive: true)
        #expect(!marked.areAll(among: ["age"]))
    }

    @Test func `raw values of fields are given as received`() {
        let bytes: [UInt8] = [0x61, 0xFF, 0x00, 0x41, 0xFE]
        let fields = Fields(
            bytes: bytes,
            entries: [
                .init(name: 0..<1, value: 1..<3), .init(name: 3..<4, value: 4..<5),
            ])
        #expect(fields.rawValues(of: "a") == [[0xFF, 0x00], [0xFE]])
        #expect(fields[bytes: "A"] == [0xFF, 0x00])
        #expect(fields[bytes: "b"] == nil)
        #expect(fields["A"] == "\u{FFFD}\0")
    }

    @Test(arguments: [(Fields.longestName, true), (Fields.longestName + 1, false)])
    func `a field's name that is too long becomes one that cannot be sent`(length: Int, isKept: Bool) {
        let name = String(repeating: "n", count: length)
        let fields: Fields = [name: "value", "Age": "1"]
        #expect(fields[name] == (isKept ? "value" : nil))
        #expect(fields["\0"] == (isKept ? nil : "value"))
        #expect(fields["age"] == "1")
    }
}
