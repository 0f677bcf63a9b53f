import DunlinTypes
import LedgerRows
import Testing

@testable import DunlinSemantics

@Suite(.timeLimit(.minutes(10))) struct `What a request offers instead of HTTP` {
    @Test(
        arguments: [
            (["foo"], nil), (["foo/2", "foo"], nil), (["a!#$%&'*+-.^_`|~9"], nil), (["foo/1", "foo/2"], nil),
            ([], .nothingOffered), ([""], .invalidProtocol("")), (["a b"], .invalidProtocol("a b")),
            (["a,b"], .invalidProtocol("a,b")), (["/2"], .invalidProtocol("/2")), (["foo/"], .invalidProtocol("foo/")),
            (["foo/2/3"], .invalidProtocol("foo/2/3")), (["a\r\nb"], .invalidProtocol("a\r\nb")),
            (["ü"], .invalidProtocol("ü")), (["foo", "FOO"], .offeredTwice("FOO")),
            (["foo/2", "Foo/2"], .offeredTwice("Foo/2")),
        ] as [([String], UpgradeError?)])
    func `an offer is a list of different protocols, each a name or a name and a version`(
        protocols: [String], expected: UpgradeError?
    ) {
        let outcome = Result { () throws(UpgradeError) in try UpgradeOffer(protocols).protocols }
        #expect(outcome == expected.map { .failure($0) } ?? .success(protocols))
    }

    @Test(
        .rules("9110-7.8-1"),
        arguments: [
            (["Connection": "Upgrade", "Upgrade": "foo/2, bar"], ["foo/2", "bar"]),
            (["Connection": "keep-alive, UPGRADE", "Upgrade": "foo"], ["foo"]),
            (["Connection": "Upgrade", "Upgrade": ", foo ,\tbar,"], ["foo", "bar"]),
            (["Upgrade": "foo"], nil), (["Connection": "close", "Upgrade": "foo"], nil),
            (["Connection": "Upgrade"], nil),
            (["Connection": "Upgrade", "Upgrade": ""], nil), (["Connection": "Upgrade", "Upgrade": "foo bar"], nil),
            (["Connection": "upgrades", "Upgrade": "foo"], nil),
        ] as [([String: String], [String]?)])
    func `a request offers what its field Upgrade lists, if its field Connection says so`(
        fields: [String: String], expected: [String]?
    ) {
        #expect(UpgradeOffer(in: Fields(fields))?.protocols == expected)
    }

    @Test(
        .rules("9110-7.8-3", "9110-15.2.2-1"),
        arguments: [
            (["Connection": "Upgrade", "Upgrade": "foo/2"], .success(["foo/2"])),
            (["Connection": "keep-alive, upgrade", "Upgrade": "BAR"], .success(["Bar"])),
            (["Connection": "Upgrade", "Upgrade": "Bar, foo/2"], .success(["Bar", "foo/2"])),
            (["Connection": "Upgrade", "Upgrade": "foo"], .failure(.notOffered("foo"))),
            (["Connection": "Upgrade", "Upgrade": "foo/3"], .failure(.notOffered("foo/3"))),
            (["Connection": "Upgrade", "Upgrade": "bar/1"], .failure(.notOffered("bar/1"))),
            (["Connection": "Upgrade", "Upgrade": "bar, other"], .failure(.notOffered("other"))),
            (["Connection": "Upgrade", "Upgrade": "bar, BAR"], .failure(.namedTwice("BAR"))),
            (["Connection": "Upgrade", "Upgrade": "foo/2;q=1"], .failure(.unreadable)),
            (["Connection": "Upgrade", "Upgrade": ","], .failure(.namesNothing)),
            (["Connection": "Upgrade"], .failure(.namesNothing)),
            (["Upgrade": "bar"], .failure(.connectionSaysNothing)),
            (["Connection": "close", "Upgrade": "bar"], .failure(.connectionSaysNothing)),
            (
                ["Connection": "Upgrade", "Upgrade": "bar", "Content-Length": "0"],
                .failure(.announcesBody("Content-Length"))
            ),
            (
                ["Connection": "Upgrade", "Upgrade": "bar", "Transfer-Encoding": "chunked"],
                .failure(.announcesBody("Transfer-Encoding"))
            ),
        ] as [([String: String], Result<[String], UpgradeError>)])
    func `a 101 names one or more of the protocols that were offered, says upgrade and has no body`(
        fields: [String: String], expected: Result<[String], UpgradeError>
    ) throws {
        let offer = try UpgradeOffer(["foo/2", "Bar"])
        let head = ResponseHead(version: .http11, status: .switchingProtocols, fields: Fields(fields))
        let accepted = Result { () throws(UpgradeError) in try offer.accepted(by: head) }
        #expect(accepted == expected)
        if case .success(let names) = expected {
            #expect(UpgradeOffer.named(in: head.fields, as: offer.protocols) == names)
        }
    }

    @Test(.rules("9110-7.8-6")) func `HTTP 1.0 has no 101`() throws {
        let fields: Fields = ["Connection": "Upgrade", "Upgrade": "foo"]
        let head = ResponseHead(version: .http10, status: .switchingProtocols, fields: fields)
        #expect(throws: UpgradeError.ofHTTP10) { _ = try UpgradeOffer(["foo"]).accepted(by: head) }
    }

    @Test func `an offer that is written is read as the same offer`() throws {
        let offer = try UpgradeOffer(["foo/2", "bar"])
        let fields: Fields = ["Connection": UpgradeOffer.connectionOption, "Upgrade": offer.fieldValue]
        #expect(UpgradeOffer(in: fields) == offer)
    }
}
