import DunlinSemantics
import DunlinTypes
import Testing

@Suite struct `Structured fields` {
    private typealias Member = StructuredReader.Member

    @Test(
        arguments: [
            ("", []), ("  1", [Member(value: .integer(1), parameters: [:])]),
            (
                "\"a \\\"b\\\\\";r=-50;t=30;u,x:/y;q,1.5",
                [
                    Member(value: .text("a \"b\\"), parameters: ["r": .integer(-50), "t": .integer(30), "u": .other]),
                    Member(value: .text("x:/y"), parameters: ["q": .other]), Member(value: .other, parameters: [:]),
                ]
            ),
            ("1;a=1; a=\"x\"", [Member(value: .integer(1), parameters: ["a": .text("x")])]),
            (
                "(1 2;a);b=?1 \t, :YQ==:;c=:Yg:",
                [
                    Member(value: .other, parameters: ["b": .other]),
                    Member(value: .bytes([0x61]), parameters: ["c": .bytes([0x62])]),
                ]
            ),
            ("999999999999999", [Member(value: .integer(999_999_999_999_999), parameters: [:])]),
        ] as [(String, [StructuredReader.Member])])
    func `lists have members with parameters`(value: String, members: [StructuredReader.Member]) {
        var reader = StructuredReader([Bytes(value)])
        #expect(reader.list() == members)
    }

    @Test(arguments: [
        "1,", ",1", "1 2", "a=1", "1;", "1;A", "1;a=", "1;a=(1)", "1000000000000000", "-", "1.", "(1", "\"a", "\"\\a\"",
        "é",
    ])
    func `a malformed list is none`(value: String) {
        var reader = StructuredReader([Bytes(value)])
        #expect(reader.list() == nil)
    }

    @Test func `several fields are one list, or one dictionary`() {
        var list = StructuredReader([Bytes("1"), Bytes("2;a")])
        #expect(list.list()?.map(\.value) == [.integer(1), .integer(2)])
        var dictionary = StructuredReader([Bytes("limit=100, reset=-1"), Bytes("limit=5;w=1, on, name=\"x\"")])
        #expect(
            dictionary.dictionary() == ["limit": .integer(5), "reset": .integer(-1), "on": .other, "name": .text("x")])
    }
}
