import Dunlin
import DunlinCommandLine
import Testing

@testable import DunlinCLI

/// Items whose names have brackets.
@Suite struct ItemTreeTests {
    private static func json(_ words: [String]) throws -> String? {
        guard case .get(_, let options) = try Command(arguments: ["a.test"] + words) else { return nil }
        guard case .text(let text)? = options.request.data.first else { return nil }
        return text
    }

    @Test(
        arguments: [
            (["a=1", "b:=2"], #"{"a":"1","b":2}"#), (["a=1", "a=2"], #"{"a":"2"}"#), (["a:=1", "a=2"], #"{"a":"2"}"#),
            (["a[b]=1"], #"{"a":{"b":"1"}}"#), (["a[b][c]:=2"], #"{"a":{"b":{"c":2}}}"#),
            (["a[]=1", "a[]=2"], #"{"a":["1","2"]}"#), (["a[2]=x"], #"{"a":[null,null,"x"]}"#),
            (["a[1]=x", "a[0]=y", "a[1]=z"], #"{"a":["y","z"]}"#), (["a[][b]=1"], #"{"a":[{"b":"1"}]}"#),
            (["a[01]=1"], #"{"a":[null,"1"]}"#), (["[]=1", "[]=2"], #"["1","2"]"#),
            (["[1][a]=x"], #"[null,{"a":"x"}]"#),
            ([#"a:={"x":1}"#, "a[y]=2"], #"{"a":{"x":1,"y":"2"}}"#), (["a:=[1]", "a[]=2"], #"{"a":[1,"2"]}"#),
            (["a:=null", "a[1]=1"], nil), ([#"a\[b=1"#], #"{"a[b":"1"}"#), ([#"a[\]x]=1"#], #"{"a":{"]x":"1"}}"#),
            ([#"a[\1]=1"#], #"{"a":{"1":"1"}}"#), (["a[b c]=1"], #"{"a":{"b c":"1"}}"#),
            (["a[é]=1", "a[e\u{301}]=2"], "{\"a\":{\"é\":\"1\",\"e\u{301}\":\"2\"}}"),
        ])
    func `brackets say where a value belongs`(words: [String], expected: String?) throws {
        guard let expected else {
            #expect(throws: UsageError.self) { try Self.json(words) }
            return
        }
        #expect(try Self.json(words).map { Array($0.utf8) } == Array(expected.utf8))
    }

    @Test(arguments: [
        (["a=1", "a[b]=2"], "\"a[b]\" needs an object, and an earlier item makes text of it"),
        (["a[b]=1", "a[]=2"], "\"a[]\" needs an array, and an earlier item makes an object of it"),
        (["a=1", "[]=2"], "\"[]\" needs an array, and an earlier item makes an object of it"),
        (["a[b=1"], "\"a[b\" has a bracket that is not closed; \\[ is one in a name"),
        (["a[b]c=1"], "\"a[b]c\" has text behind a bracket; write a[b][c]"),
        (["[a]=1"], "\"[a]\" begins with a bracket; [] or [0] makes the body an array"),
        (["a[-1]=1"], "\"a[-1]\" has an index that is not a number from 0 to 9999"),
        (["a[999999999]=1"], "\"a[999999999]\" has an index that is not a number from 0 to 9999"),
        (["a[99999999999999999999]=1"], "\"a[99999999999999999999]\" has an index that is not a number from 0 to 9999"),
        (["a[9999]=1", "b[9999]=1"], "\"b[9999]\" leaves too many elements of arrays without a value"),
        (["a" + String(repeating: "[b]", count: 64) + "=1"], "a name has at most 64 steps in brackets"),
    ])
    func `brackets that make no sense, or would cost much, are refused`(words: [String], expected: String) {
        #expect(throws: UsageError(description: expected)) { try Self.json(words) }
    }

    @Test func `the names of a form with files are sent as they are`() throws {
        guard case .get(_, let options) = try Command(arguments: ["a.test", "a[b]=1", "f@/x"]) else { return }
        #expect(options.request.form.first == FormPart("a[b]", .text("1")))
    }

    @Test(.timeLimit(.minutes(1))) func `many items cost no more than they are long`() throws {
        let words = (0..<20_000).flatMap { ["a[]=\($0)", "b[k\($0)]=1"] }
        #expect(try Self.json(words)?.utf8.count ?? 0 > 300_000)
    }
}
