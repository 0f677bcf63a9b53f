import DunlinSemantics
import DunlinTypes
import Testing

@testable import DunlinRules

@Suite struct `Redirect machine` {
    private typealias Machine = RedirectMachine

    private static func hop(
        _ url: String, _ method: HTTP.Method = .get, fields: Fields = [:], hasBody: Bool = false
    ) throws -> Machine.Hop {
        Machine.Hop(method: method, address: try WebAddress(url), fields: fields, hasBody: hasBody)
    }

    private static func response(_ status: HTTP.Status = 302, _ location: String? = "/next") -> ResponseHead {
        ResponseHead(status: status, fields: location.map { ["Location": $0] } ?? [:])
    }

    private static func kind(_ refusal: Machine.Refusal?) -> String? {
        switch refusal {
        case nil: nil
        case .tooMany(let limit): "more than \(limit)"
        case .loop: "loop"
        case .unsupportedScheme: "scheme"
        case .unusable: "unusable"
        case .ambiguous: "ambiguous"
        case .insecure: "insecure"
        }
    }

    /// Follows each step in turn; what the last one that was refused came to.
    private static func refusal(
        _ machine: inout Machine, _ hops: [Machine.Hop], _ policy: Machine.Policy = .init(),
        isNewBody: Bool = false
    ) -> String? {
        for (before, after) in zip(hops, hops.dropFirst()) {
            do throws(Machine.Refusal) {
                try machine.follow(after, after: before, isNewBody: isNewBody, policy)
            } catch {
                return kind(error)
            }
        }
        return nil
    }

    @Test(arguments: [200, 300, 304, 305, 306, 310, 399, 404] as [HTTP.Status])
    func `a status that is no redirect leads to no proposal`(status: HTTP.Status) throws {
        let proposal = Machine().proposal(Self.response(status), to: try Self.hop("http://a/"), .init())
        #expect(proposal.isNone)
    }

    @Test func `no redirect is proposed without a Location, or if redirects are not followed`() throws {
        let hop = try Self.hop("http://a/")
        #expect(Machine().proposal(Self.response(302, nil), to: hop, .init()).isNone)
        #expect(Machine().proposal(Self.response(), to: hop, .init(follows: false)).isNone)
    }

    static let bodies: [(HTTP.Status, HTTP.Method, Bool, HTTP.Method, Bool)] = [
        (301, .post, true, .get, false), (302, .post, true, .get, false), (303, .post, true, .get, false),
        (307, .post, true, .post, true), (308, .post, true, .post, true), (301, .put, true, .put, true),
        (303, .put, true, .get, false), (303, .get, true, .get, false), (303, .head, false, .head, false),
        (301, .get, false, .get, false), (307, .get, false, .get, false), (307, .patch, false, .patch, false),
        (302, .delete, true, .delete, true), (308, .put, false, .put, false),
    ]

    @Test(arguments: bodies)
    func `the status and the method decide whether a redirect keeps the body and its fields`(
        status: HTTP.Status, method: HTTP.Method, hasBody: Bool, next: HTTP.Method, keepsBody: Bool
    ) throws {
        let fields: Fields = ["Content-Type": "a/b", "Expect": "100-continue", "X": "1"]
        let hop = try Self.hop("http://a/", method, fields: fields, hasBody: hasBody)
        let proposal = try #require(Machine().proposal(Self.response(status), to: hop, .init()))
        #expect(proposal.method == next)
        #expect(proposal.keepsBody == keepsBody)
        let keepsFields = RedirectRules.next(after: status, method).keepsBody
        #expect(proposal.fields == (keepsFields ? fields : ["X": "1"]))
        #expect(proposal.url == "http://a/next")
    }

    static let refused: [(Fields, String, String)] = [
        (["Location": "app://x"], "scheme", "app://x"), (["Location": "mailto:a@b"], "scheme", "mailto:a@b"),
        (["Location": "http://"], "unusable", "http://"), (["Location": "//a b/"], "unusable", "//a b/"),
        (["Location": "/a", "location": "/b"], "ambiguous", "/a"),
    ]

    @Test(arguments: refused)
    func `a redirect to an unusable destination is still proposed, with what is wrong with it`(
        fields: Fields, refusal: String, url: String
    ) throws {
        let hop = try Self.hop("http://a/", fields: ["Authorization": "A", "X": "1"])
        let head = ResponseHead(status: 302, fields: fields)
        let proposal = try #require(Machine().proposal(head, to: hop, .init()))
        #expect(Self.kind(proposal.refusal) == refusal)
        #expect(proposal.address == nil)
        #expect(proposal.url == url)
        #expect(proposal.fields == ["X": "1"])
    }

    @Test(arguments: [0, 1, 5, 20])
    func `as many redirects are followed as the limit says`(limit: Int) throws {
        var machine = Machine()
        let hops = try (0...limit + 1).map { try Self.hop("http://a/\($0)") }
        #expect(Self.refusal(&machine, hops, .init(limit: limit)) == "more than \(limit)")
        #expect(machine.count == limit)
    }

    static let loops: [([(HTTP.Method, String)], String?)] = [
        ([(.get, "http://a/"), (.get, "http://a/")], "loop"),
        ([(.get, "http://a/"), (.get, "http://a/#x")], "loop"),
        ([(.get, "http://a/"), (.get, "http://b/"), (.get, "http://a/")], "loop"),
        ([(.get, "http://a/"), (.get, "http://b/"), (.get, "http://c/"), (.get, "http://b/")], "loop"),
        ([(.post, "http://a/"), (.get, "http://a/")], nil), ([(.get, "http://a/"), (.get, "http://a/?x")], nil),
        ([(.get, "http://a/"), (.get, "https://a/")], nil), ([(.get, "http://a/"), (.get, "http://a:81/")], nil),
        ([(.get, "http://a/x"), (.get, "http://a/y"), (.get, "http://a/z")], nil),
    ]

    @Test(arguments: loops)
    func `a redirect to what was asked before is refused at once`(steps: [(HTTP.Method, String)], expected: String?)
        throws
    {
        var machine = Machine()
        #expect(Self.refusal(&machine, try steps.map { try Self.hop($1, $0) }) == expected)
    }

    @Test func `the same URL may be asked again with another body or other fields`() throws {
        let hops = [try Self.hop("http://a/", .put, hasBody: true), try Self.hop("http://a/", .put, hasBody: true)]
        var machine = Machine()
        #expect(Self.refusal(&machine, hops, isNewBody: true) == nil)
        #expect(Self.refusal(&machine, hops) == "loop")
        machine = Machine()
        let other = [try Self.hop("http://a/"), try Self.hop("http://a/", fields: ["Cookie": "c"])]
        #expect(Self.refusal(&machine, other) == nil)
    }

    @Test(arguments: [false, true])
    func `a redirect from https to http is refused unless the policy allows it`(isAllowed: Bool) throws {
        let policy = Machine.Policy(allowsHTTPSToHTTP: isAllowed)
        var machine = Machine()
        let down = [try Self.hop("https://a/"), try Self.hop("http://a/")]
        #expect(Self.refusal(&machine, down, policy) == (isAllowed ? nil : "insecure"))
        let up = [try Self.hop("http://b/"), try Self.hop("https://b/")]
        #expect(Self.refusal(&machine, up, policy) == nil)
    }

    /// What a hook wants to send, where to, and what of it is sent.
    static let hooks: [(Fields, String, Fields)] = [
        (["Authorization": "A", "X": "1"], "http://a/other", ["Authorization": "A", "X": "1"]),
        (["Authorization": "A", "X": "1"], "http://b/", ["X": "1"]),
        (["Authorization": "B", "X": "2"], "http://b/", ["Authorization": "B", "X": "2"]),
        (["Authorization": "A", "Cookie": "c"], "http://b/", ["Cookie": "c"]),
        (["X-Own": "o"], "http://b/", [:]), (["X-Own": "p"], "http://b/", ["X-Own": "p"]), ([:], "http://b/", [:]),
    ]

    @Test(arguments: hooks)
    func `fields that a hook wrote are sent, and secrets it only left go to no other origin`(
        wanted: Fields, url: String, expected: Fields
    ) throws {
        let policy = Machine.Policy(secretFields: ["x-own"])
        let hop = try Self.hop("http://a/", fields: ["Authorization": "A", "X": "1", "X-Own": "o"])
        let proposal = try #require(Machine().proposal(Self.response(), to: hop, policy))
        let next = try WebAddress(url).origin
        #expect(Machine.fields(wanted, to: next, insteadOf: proposal, after: hop, policy) == expected)
    }
}

extension Optional {
    fileprivate var isNone: Bool { if case .none = self { true } else { false } }
}
