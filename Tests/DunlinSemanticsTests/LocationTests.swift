import DunlinSemantics
import DunlinTypes
import LedgerRows
import Testing

@Suite struct `A Location field` {
    static let values: [(Bytes, String?)] = [
        ("/x", "/x"), ("http://a/b?c#d", "http://a/b?c#d"), ("", ""), (" \t ", ""), (" /x ", "/x"),
        ("/a b", "/a%20b"), ("/a\tb", "/ab"), ("/a%20b", "/a%20b"), ("/%zz", "/%25zz"), ("/100%", "/100%25"),
        ("/%4", "/%254"), ("/%4g%41", "/%254g%41"), ("/caf\u{E9}", "/caf%C3%A9"),
        ("?q=\u{FC} x#\u{1F600}", "?q=%C3%BC%20x#%F0%9F%98%80"),
        (Bytes([0x2F, 0x63, 0xE9]), "/c%E9"), (Bytes([0x2F, 0xFF, 0x00, 0x0D, 0x0A, 0x41]), "/%FF%00%0D%0AA"),
        (#"/"<x>""#, "/%22%3Cx%3E%22"), (#"\x\y?a\b#\"#, "/x/y?a%5Cb#%5C"), (#"\\b\x"#, "//b/x"),
        (#"http:\\b\x"#, "http://b/x"), ("http://b\u{FC}cher.example/\u{FC}", "http://bücher.example/%C3%BC"),
        ("//a b/c d", "//a b/c%20d"), ("/{a}|b^c`d'e", "/{a}|b^c`d'e"), ("/a#b#c", "/a#b#c"),
        (Bytes([0x2F, 0x2F, 0xE9, 0x2F]), nil), ("/\u{7F}", "/%7F"),
    ]

    @Test(.rules("9110-10.2.2-3"), arguments: values)
    func `a Location field is read as browsers read it`(value: Bytes, expected: String?) {
        var bytes = Array("Location".utf8)
        bytes += value.array
        let fields = Fields(bytes: bytes, entries: [.init(name: 0..<8, value: 8..<bytes.count)])
        #expect(Location(fields) == (expected.map { .reference($0) } ?? .unreadable))
    }

    @Test func `a Location field may come twice, but not with two values`() {
        #expect(Location([:]) == .none)
        #expect(Location(["location": "/a", "LOCATION": "/a"]) == .reference("/a"))
        #expect(Location(["location": "/a", "Location": "/b"]) == .ambiguous)
        #expect(Location(["location": "/a", "Location": ""]) == .ambiguous)
    }

    /// Any byte in any place makes a reference that resolves or is refused; what resolves is fit to be sent.
    @Test(arguments: 0...255 as ClosedRange<UInt8>)
    func `a Location field never makes a target that may not be sent`(byte: UInt8) throws {
        let base = try WebAddress("http://a/b")
        for template in ["*", "/x*y", "?*", "#*", "//h*/", "http://h/*?*#*", "http:*", "%*", "%4*"] {
            let bytes = Array("location".utf8) + template.utf8.flatMap { $0 == UInt8(ascii: "*") ? [byte] : [$0] }
            let fields = Fields(bytes: bytes, entries: [.init(name: 0..<8, value: 8..<bytes.count)])
            guard case .reference(let reference) = Location(fields) else { continue }
            guard let found = try? RedirectRules.destination(of: reference, from: base) else { continue }
            #expect(found.target.utf8.allSatisfy { $0 > 0x20 && $0 < 0x7F && $0 != UInt8(ascii: "#") })
            #expect(found.target.hasPrefix("/"))
            #expect(try WebAddress(found.description).description == found.description)
        }
    }
}
