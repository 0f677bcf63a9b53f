import Testing

@testable import DunlinTypes

/// `é` in one scalar and in two, which Swift considers equal, and nobody else.
@Suite struct `Text compared by bytes` {
    private static let one = "caf\u{E9}"
    private static let other = "cafe\u{301}"

    @Test func `texts that only look the same are different`() {
        #expect(Self.one == Self.other)
        #expect(ExactText(Self.one) != ExactText(Self.other))
        #expect(Set([ExactText(Self.one), ExactText(Self.other), ExactText(Self.one)]).count == 2)
        #expect(!Self.one.hasSameBytes(as: Self.other))
        let texts: [String?] = [Self.one, Self.other, "", nil]
        for (index, text) in texts.enumerated() {
            #expect(texts.map { text.hasSameBytes(as: $0) } == texts.indices.map { $0 == index })
        }
    }

    /// They may be two tenants' sockets.
    @Test func `two files are two Unix sockets`() {
        let addresses = [Self.one, Self.other].map { HTTP.SocketAddress.unix("/run/\($0)") }
        #expect(addresses[0] != addresses[1])
        #expect(Set(addresses).count == 2)
        let origins = addresses.map {
            HTTP.Origin(scheme: .http, host: "a.test", port: 80).over(HTTP.Route(address: $0))
        }
        #expect(origins[0] != origins[1])
    }

    @Test func `other addresses are equal if all their parts are`() {
        let addresses: [HTTP.SocketAddress] = [
            .v4(1, port: 2), .v4(2, port: 2), .v4(1, port: 1), .v6(0, 1, port: 2), .v6(1, 0, port: 2),
            .v6(0, 1, port: 2, scope: 1), .v6(0, 1, port: 1), .unix("1"),
        ]
        for (index, address) in addresses.enumerated() {
            #expect(addresses.firstIndex(of: address) == index)
        }
        #expect(Set(addresses).count == addresses.count)
    }

    @Test(arguments: [
        ("a:b", ["a", "b"]), ("", [""]), (":", ["", ""]), ("a:\u{301}:b", ["a", "\u{301}", "b"]),
        ("\r\n:", ["\r\n", ""]),
    ])
    func `a byte parts a text though a combining mark follows it`(text: String, parts: [String]) {
        #expect(text.parts(at: UInt8(ascii: ":")).map { Array($0.utf8) } == parts.map { Array($0.utf8) })
    }

    @Test func `a quote ends a word of a shell though a combining mark follows it`() {
        #expect("a'\u{301};b".inSingleQuotes.utf8.elementsEqual("'a'\\''\u{301};b'".utf8))
    }
}
