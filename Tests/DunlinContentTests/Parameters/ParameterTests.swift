import Dunlin
import FoundationEssentials
import LedgerRows
import Testing

@testable import DunlinContent

@Suite struct `Parameters in a query or form` {
    typealias Parameters = HTTP.Parameters

    private static let signs = " \"#%<>[]\\^`{}|"

    /// AFNetworking's own cases.
    static let afnetworking: [(Parameters, String)] = [
        (
            ["key1": "value1", "key2": ["key": [1, "value"]]],
            "key1=value1&key2%5Bkey%5D%5B%5D=1&key2%5Bkey%5D%5B%5D=value"
        ),
        (["foo": "bar", "baz": [1, 2, 3]], "baz%5B%5D=1&baz%5B%5D=2&baz%5B%5D=3&foo=bar"),
        (["a": nil, "b": "", "c": [nil, 1]], "a&b=&c%5B%5D&c%5B%5D=1"),
        (["a b": "c+d e"], "a%20b=c%2Bd%20e"),
        (["habit[]": "游泳"], "habit%5B%5D=%E6%B8%B8%E6%B3%B3"),
        (["q": "\(signs)"], "q=%20%22%23%25%3C%3E%5B%5D%5C%5E%60%7B%7D%7C"),
        (["q": "汉字&ss"], "q=%E6%B1%89%E5%AD%97%26ss"),
        (["q": "ä"], "q=%C3%A4"), (["q": "e\u{301}"], "q=e%CC%81"), (["q": "\0\n\t"], "q=%00%0A%09"),
        (["q": "AZaz09-._~/?"], "q=AZaz09-._~/?"),
        (["q": ":#[]@!$&'()*+,;=%20"], "q=%3A%23%5B%5D%40%21%24%26%27%28%29%2A%2B%2C%3B%3D%2520"),
        (["b": 1, "a": 1, "_": 1, "B": 1, "A": 1, "1": 1], "1=1&A=1&B=1&_=1&a=1&b=1"),
        (["n": .set([9, 10, 2]), "s": .set(["b", "a", "C"])], "n=10&n=2&n=9&s=C&s=a&s=b"),
        (["x": [], "y": [:], "z": [[]]], ""), ([:], ""),
        (["a": [["k": 1, "j": 2], ["k": 3]]], "a%5B%5D%5Bj%5D=2&a%5B%5D%5Bk%5D=1&a%5B%5D%5Bk%5D=3"),
        (["a": [[1], [2]]], "a%5B%5D%5B%5D=1&a%5B%5D%5B%5D=2"),
        (["t": true, "f": false, "d": 1.1, "i": -3, "e": 1e21, "w": 3.0], "d=1.1&e=1e%2B21&f=0&i=-3&t=1&w=3"),
        (["\u{FFFD}": 1, "\u{10000}": 2], "%F0%90%80%80=2&%EF%BF%BD=1"),
        (["\u{E9}": 1, "e\u{301}": 2], "e%CC%81=2&%C3%A9=1"),
    ]

    @Test(
        .rows(
            "RQ-1", "RQ-2", "RQ-4", "RQ-6", "RQ-7", "RQ-8", "RQ-9", "RQ-10", "RQ-11", "RQ-12", "RQ-13", "RQ-14",
            "RQ-17", "RQ-18", "LX-8"),
        arguments: afnetworking)
    func `parameters become AFNetworking's pairs, in its order`(parameters: Parameters, text: String) throws {
        #expect(try HTTP.ParameterStyle().encoded(parameters) == text)
        #expect(try HTTP.Query(parameters).encoded == text)
        #expect(try HTTP.Query(parameters).isEmpty == text.isEmpty)
    }

    private static let tree: Parameters = ["b": [true, nil], "a": ["x": ["y": 1]], "b": "again"]
    private static let date = DynamicValue.date(Date(timeIntervalSince1970: 0.25))

    static let styles: [(HTTP.ParameterStyle, Parameters, String)] = [
        (.init(), tree, "a%5Bx%5D%5By%5D=1&b%5B%5D=1&b%5B%5D&b=again"),
        (.given, tree, "b%5B%5D=1&b%5B%5D&a%5Bx%5D%5By%5D=1&b=again"),
        (.init(arrays: .repeatedKey), tree, "a%5Bx%5D%5By%5D=1&b=1&b&b=again"),
        (.init(arrays: .indexed), tree, "a%5Bx%5D%5By%5D=1&b%5B0%5D=1&b%5B1%5D&b=again"),
        (.init(objects: .dots), tree, "a.x.y=1&b%5B%5D=1&b%5B%5D&b=again"),
        (.init(bools: .words), ["t": true, "f": false, "n": 1], "f=false&n=1&t=true"),
        (.init(nulls: .emptyValue), ["a": nil, "b": [nil]], "a=&b%5B%5D="),
        (.init(nulls: .dropped), ["a": nil, "b": [nil, 1], "c": ""], "b%5B%5D=1&c="),
        (.init(keepsBrackets: true), ["a": ["b]": ["[&"]]], "a[b]][]=%5B%26"),
        (.init(), ["d": date], "d=1970-01-01T00%3A00%3A00.250Z"),
        (.init(dates: .secondsSince1970), ["d": date], "d=0.25"),
        (.init(dates: .millisecondsSince1970), ["d": date], "d=250"),
        (.init(), ["d": .data([0xFB, 0xFF])], "d=%2B/8%3D"),
    ]

    @Test(.rows("RQ-6", "RQ-8", "RQ-9", "RQ-11", "RQ-14", "RQ-15", "RQ-20"), arguments: styles)
    func `parameters follow the style that is set`(style: HTTP.ParameterStyle, parameters: Parameters, text: String)
        throws
    {
        #expect(try style.encoded(parameters) == text)
        let copy = try JSONDecoder().decode(HTTP.ParameterStyle.self, from: JSONEncoder().encode(style))
        #expect(copy == style)
    }

    @Test(.rows("RQ-21")) func `parameters come in the same order however their dictionary was filled`() throws {
        let keys = (0..<200).map { "k\($0 * 7919 % 1000)-\($0)" }
        let expected = try HTTP.ParameterStyle().encoded(
            Parameters(Dictionary(uniqueKeysWithValues: keys.map { ($0, 1) })))
        for step in [1, 3, 7, 11, 199] {
            var shuffled = Parameters()
            for index in keys.indices { shuffled.append(keys[index * step % keys.count], 1) }
            #expect(try HTTP.ParameterStyle().encoded(shuffled) == expected)
        }
    }

    @Test func `parameters nested too deeply, or with a date that no calendar has, are refused`() throws {
        let deep = (0..<600).reduce(1 as DynamicValue) { value, _ in [value] }
        for value in [deep, .date(Date(timeIntervalSince1970: .infinity)), .date(.distantPast.advanced(by: -1e12))] {
            let error = #expect(throws: NetworkError.self) { try HTTP.ParameterStyle().encoded(["d": value]) }
            #expect(error?.code == .invalidParameters)
        }
    }

    private static let odd = [Double.nan, .infinity, -.infinity].map { DynamicValue.number(.init($0)) }

    @Test(arguments: odd)
    func `a parameter that is infinite or not a number is refused by name`(value: DynamicValue) throws {
        let cases: [(Parameters, String, String)] = [
            (["d": value], #""d""#, #""d""#), (["a": ["x": [1, value]]], #""a[x][]""#, #""a.x[1]""#),
            (["a": [["b": ["c": value]]]], #""a[][b][c]""#, #""a[0].b.c""#),
        ]
        for (parameters, key, path) in cases {
            let errors = [
                #expect(throws: NetworkError.self) { try HTTP.Query(parameters) },
                #expect(throws: NetworkError.self) { try RequestBody.form(parameters) },
                #expect(throws: NetworkError.self) { try RequestBody.multipart(parameters: parameters) },
            ]
            for error in errors {
                #expect(error?.code == .invalidParameters)
                #expect(error?.reason.contains(key) == true)
            }
            let json = #expect(throws: NetworkError.self) { try RequestBody.json(.object(parameters)) }
            #expect(json?.code == .invalidParameters)
            #expect(json?.underlying.map { "\($0)" }?.hasPrefix(path + ": ") == true)
        }
    }

    @Test(.rows("RQ-3")) func `very long and very many parameters are encoded in full`() throws {
        let long = String(repeating: "游", count: 100_000)
        #expect(try HTTP.ParameterStyle().encoded(["q": .string(long)]).utf8.count == 2 + 900_000)
        var many = Parameters()
        for index in 0..<10_000 { many.append("key\(index)", .string("wert \(index)")) }
        #expect(try HTTP.ParameterStyle().encoded(many).split(separator: "&").count == 10_000)
    }

    @Test(
        .rows("RQ-7"),
        arguments: [
            ("", ""), ("a", "a"), ("a", "b"), ("b", "a"), ("a", "aa"), ("\u{FFFF}", "\u{10000}"),
            ("\u{D7FF}", "\u{10000}"),
            ("\u{E000}", "\u{10FFFF}"), ("x\u{FFFD}", "x\u{1F600}"), ("é", "e\u{301}"),
        ])
    func `parameters are sorted by UTF-16 code units`(left: String, right: String) {
        #expect(left.precedesInUTF16(right) == left.utf16.lexicographicallyPrecedes(right.utf16))
        #expect(right.precedesInUTF16(left) == right.utf16.lexicographicallyPrecedes(left.utf16))
    }
}
