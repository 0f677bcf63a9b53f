import DunlinSemantics
import DunlinTypes
import Testing

@Suite struct `An answer that is kept` {
    /// One who asks, what is sent, and what is answered.
    private struct Hop {
        var target = "/a"
        var user = ""
        var terms = ""
        var fields: Fields = [:]
        var status = HTTP.Status.ok
        var answer: Fields = [:]
        var isConfirmed = true
        var isElsewhere = false
        var time: Int64 = 0

        var request: CacheRequest {
            let head = RequestHead(method: .get, origin: PlayedCache.origin, target: target, fields: fields)
            return CacheRequest(head, by: CacheAsker(user: user, terms: terms, fields: fields))
        }

        func with(_ change: (inout Hop) -> Void) -> Hop {
            var hop = self
            change(&hop)
            return hop
        }
    }

    private static func provenance(_ hops: [Hop]) -> Provenance {
        var provenance = Provenance()
        for hop in hops {
            provenance.add(
                Provenance.Step(
                    hop.request, sent: hop.request.head, ResponseHead(status: hop.status, fields: hop.answer),
                    .init(nil, withJar: nil, isNamed: false), rules: hop.terms, isConfirmed: hop.isConfirmed,
                    isElsewhere: hop.isElsewhere, sentAt: hop.time, receivedAt: hop.time))
        }
        return provenance
    }

    private static func kept(_ hops: [Hop], confirming former: KeptAnswer? = nil) -> KeptAnswer? {
        let provenance = provenance(hops)
        return provenance.kept(
            provenance.steps[hops.count - 1].answer, at: hops[hops.count - 1].time, confirming: former,
            PlayedCache.rules)
    }

    private static func verdict(_ kept: KeptAnswer, at now: Int64 = 0, to hops: [Hop]) -> KeptAnswer.Verdict {
        var next = hops.makeIterator()
        return kept.verdict(at: now, PlayedCache.rules) { _ in
            next.next().map { ($0.request, $0.request.asker.named) }
        }
    }

    private static let fresh: Fields = ["Cache-Control": "max-age=60", "ETag": "\"1\""]
    private static let redirect = Hop(status: 302, answer: ["Cache-Control": "max-age=60", "Location": "/b"])
    private static let there = Hop(target: "/b", answer: fresh)

    /// For how many seconds an answer with these fields is given; nil for ever.
    private static let lifetimes: [(Fields, Int64?)] = [
        ([:], nil), (["Cache-Control": "public"], nil), (["Last-Modified": "Sun, 06 Nov 1994 08:49:37 GMT"], nil),
        (["Cache-Control": "max-age=60"], 60), (["Cache-Control": "max-age=60", "Age": "10"], 50),
        (["Cache-Control": "max-age=x"], 0), (["Cache-Control": "no-cache, max-age=60"], 0), (["Expires": "0"], 0),
        (["Cache-Control": "max-age=60, max-age=90"], 0), (["Expires": "Tue, 31 Feb 1995 08:50:37 GMT"], 0),
    ]

    @Test(arguments: lifetimes) func `an answer is given as long as it says, and for ever if it says nothing`(
        fields: Fields, lifetime: Int64?
    ) throws {
        let hop = Hop(answer: fields)
        let kept = try #require(Self.kept([hop]))
        #expect((Self.verdict(kept, to: [hop]) == .give) == (lifetime ?? 1 > 0))
        if let lifetime {
            #expect(Self.verdict(kept, at: max(0, lifetime - 1), to: [hop]) == (lifetime > 0 ? .give : .ask([:])))
            #expect(Self.verdict(kept, at: lifetime, to: [hop]) == .ask([:]))
        } else {
            #expect(Self.verdict(kept, at: 1 << 40, to: [hop]) == .give)
        }
    }

    @Test(
        arguments: [
            ["Cache-Control": "no-store"], ["Cache-Control": "max-age=5, No-Store"], ["Vary": "*"], ["Vary": "a b"],
        ] as [Fields]) func `what may not be kept, or fits no other request, is not kept`(fields: Fields)
    {
        #expect(Self.kept([Hop(answer: fields)]) == nil)
        let redirect = Self.redirect.with { $0.answer = $0.answer.overlaid(with: fields) }
        #expect(Self.kept([redirect, Self.there]) == nil)
    }

    @Test func `what was not sent as the one who asked, or elsewhere, is not kept`() {
        #expect(Self.kept([Self.redirect.with { $0.isConfirmed = false }, Self.there]) == nil)
        #expect(Self.kept([Self.redirect, Self.there.with { $0.isElsewhere = true }]) == nil)
    }

    private static let others: [@Sendable (inout Hop) -> Void] = [
        { $0.user = "bob" }, { $0.terms = "guard" }, { $0.fields = ["X-Api-Key": "1"] }, { $0.target = "/c" },
        { $0.fields = ["X-Theme": "dark"] }, { $0.fields = ["Host": "other.test"] },
    ]

    @Test(arguments: others.indices, [0, 1])
    func `only who asks as the same one, for the same at each hop, is given it`(index: Int, hop: Int) throws {
        let hops = [Self.redirect, Self.there].map { hop in
            hop.with { hop in
                hop.user = "alice"
                hop.answer["Vary"] = "X-Theme"
            }
        }
        let kept = try #require(Self.kept(hops))
        var others = hops
        Self.others[index](&others[hop])
        #expect(Self.verdict(kept, to: hops) == .give)
        #expect(Self.verdict(kept, to: others) == .no)
    }

    @Test func `what nobody's credentials asked for is given only to nobody`() throws {
        let kept = try #require(Self.kept([Self.there]))
        #expect(Self.verdict(kept, to: [Self.there.with { $0.user = "alice" }]) == .no)
    }

    @Test(arguments: [[:], ["Cache-Control": "no-cache"], ["Cache-Control": "max-age=0"]] as [Fields])
    func `a redirect is followed again unless it says how long it keeps`(fields: Fields) throws {
        let redirect = Hop(status: 302, answer: fields.overlaid(with: ["Location": "/b"]))
        let kept = try #require(Self.kept([redirect, Self.there]))
        #expect(Self.verdict(kept, to: [redirect, Self.there]) == .ask(["If-None-Match": "\"1\""]))
        #expect(Self.verdict(kept, to: [redirect]) == .no)
    }

    @Test func `the last hop is asked about once any is stale`() throws {
        let hops = [Self.redirect, Self.there.with { $0.answer["Cache-Control"] = "max-age=600" }]
        let kept = try #require(Self.kept(hops))
        #expect(Self.verdict(kept, at: 59, to: hops) == .give)
        #expect(Self.verdict(kept, at: 60, to: hops) == .ask(["If-None-Match": "\"1\""]))
    }

    @Test func `a confirmation counts where the answer came from, for the one who asked`() throws {
        let hops = [Self.redirect, Self.there]
        let kept = try #require(Self.kept(hops))
        let later = hops.map { $0.with { $0.time = 100 } }
        func confirms(_ change: (inout Hop) -> Void) -> Bool {
            let last = later[1].with { hop in
                (hop.status, hop.answer) = (304, ["ETag": "\"1\""])
                change(&hop)
            }
            return Self.provenance([later[0], last]).confirms(kept, PlayedCache.rules)
        }
        #expect(confirms { _ in })
        #expect(!confirms { $0.answer = ["ETag": "\"2\""] })
        #expect(!confirms { $0.target = "/c" })
        #expect(!confirms { $0.user = "bob" })
        #expect(!confirms { $0.isConfirmed = false })
        #expect(!Self.provenance([later[1]]).confirms(kept, PlayedCache.rules))
    }

    @Test func `a confirmation renews what is kept, with its own fields`() throws {
        let kept = try #require(Self.kept([Self.there]))
        func renewed(_ fields: Fields) -> KeptAnswer? {
            let answer = Self.there.with { ($0.status, $0.answer, $0.time) = (304, fields, 100) }
            return Self.kept([answer], confirming: kept)
        }
        let same = try #require(renewed([:]))
        #expect(Self.verdict(same, at: 159, to: [Self.there]) == .give)
        #expect(Self.verdict(same, at: 160, to: [Self.there]) != .give)
        #expect(Self.verdict(try #require(renewed(["Cache-Control": "max-age=5"])), at: 105, to: [Self.there]) != .give)
        #expect(renewed(["Cache-Control": "no-store"]) == nil)
        let varied = try #require(renewed(["Vary": "X-Theme"]))
        #expect(Self.verdict(varied, at: 100, to: [Self.there.with { $0.fields = ["X-Theme": "dark"] }]) == .no)
    }

    @Test func `nothing is asked about for who has conditions of their own`() throws {
        let kept = try #require(Self.kept([Self.there]))
        let own = Self.there.with { $0.fields = ["If-None-Match": "\"2\""] }
        #expect(Self.verdict(kept, at: 60, to: [own]) == .ask([:]))
    }

    @Test func `a newer answer takes the place of what its asker would have been given`() throws {
        func kept(_ theme: String, _ target: String = "/b") throws -> KeptAnswer {
            let there = Hop(target: target, fields: ["X-Theme": theme], answer: ["Vary": "X-Theme"])
            return try #require(Self.kept([Self.redirect, there]))
        }
        #expect(try kept("dark").supersedes(try kept("dark")))
        #expect(try !kept("dark").supersedes(try kept("light")))
        // The redirect leads elsewhere now.
        #expect(try kept("light", "/c").supersedes(try kept("dark")))
    }

    @Test func `under another name it is the same for all who use that`() throws {
        let name = CacheKey(text: "the same")
        let provenance = Self.provenance([Self.there]).renamed(name, for: nil)
        let kept = try #require(provenance.kept(provenance.steps[0].answer, at: 0, PlayedCache.rules))
        let verdict = kept.verdict(at: 0, PlayedCache.rules) { _ in
            let asked = Self.there.with { $0.target = "/c" }.request
            return (asked.named(name), asked.asker.named)
        }
        #expect(verdict == .give)
    }

    @Test func `a file is continued only where each hop is the same, but for the query`() {
        func texts(_ change: (inout Hop) -> Void) -> [[Bytes]]? {
            let last = Self.there.with(change)
            var provenance = Provenance()
            for hop in [Self.redirect, last] {
                provenance.add(
                    Provenance.Step(
                        hop.request, sent: hop.request.head, ResponseHead(status: hop.status, fields: hop.answer),
                        .init(Bytes(hop.user), withJar: nil, isNamed: false), rules: hop.terms,
                        isConfirmed: hop.isConfirmed, isElsewhere: hop.isElsewhere, sentAt: 0, receivedAt: 0))
            }
            return provenance.texts(for: Self.redirect.request.head, \.usual)
        }
        let same = texts { _ in }
        #expect(same != nil)
        #expect(texts { $0.target = "/b?signature=2" } == same)
        #expect(texts { $0.target = "/c" } != same)
        #expect(texts { $0.user = "bob" } != same)
        #expect(texts { $0.terms = "guard" } != same)
        #expect(texts { $0.isConfirmed = false } == nil)
        #expect(Provenance().texts(for: Self.redirect.request.head, \.usual) == nil)
    }
}
