import DunlinSemantics
import DunlinTypes
import LedgerRows
import Testing

@Suite struct `Whom a stored response is for` {
    private static let fresh: Fields = ["Cache-Control": "max-age=60"]

    private static func request(
        _ user: String = "", terms: String = "", _ fields: Fields = Fields(), bypassesCache: Bool = false
    ) -> CacheRequest {
        let head = RequestHead(method: .get, origin: PlayedCache.origin, target: "/a", fields: fields)
        return CacheRequest(
            head, by: CacheAsker(user: user, terms: terms, fields: fields), bypassesCache: bypassesCache)
    }

    /// What is stored of an answer; nil if nothing is. `count` is the length of what came; nil for all.
    private static func stored(
        for request: CacheRequest, _ answer: Fields = fresh, count: Int? = nil
    ) -> CacheEntry? {
        var machine = CacheMachine(request, candidates: [], rules: PlayedCache.rules)
        _ = machine.begin(at: 0)
        let update = machine.answered(
            by: ResponseHead(status: 200, fields: answer), sentAt: 0, receivedAt: 0)
        guard case .store(let draft, _)? = update.changes.first else { return nil }
        return draft.ended(count: count ?? 0, isComplete: count == nil)
    }

    private static func isServed(_ entry: CacheEntry, to request: CacheRequest) -> Bool {
        var machine = CacheMachine(request, candidates: [entry], rules: PlayedCache.rules)
        if case .serve = machine.begin(at: 1) { return true }
        return false
    }

    private static let key: Fields = ["X-Api-Key": "1"]
    private static let requests = [
        request("alice"), request("bob"), request("alice", key), request("bob", key), request("", key),
        request("alice", ["X-Api-Key": "2"]), request("alice", ["Authorization": "x"]),
        request("", ["Authorization": "x"]), request("", ["Authorization": "x", "X-Api-Key": "1"]),
        request("alice", ["X-Api-Key": "1", "Idempotency-Key": "2"]),
        request("5:alice9:x-api-key1:1"), request("alice", ["X-Api-Key": "1", "X-Key": ""]),
    ]

    @Test(.rules("9111-7.3-1"), arguments: requests.indices)
    func `a response is only for requests with the same user and secret fields`(index: Int) throws {
        let entry = try #require(Self.stored(for: Self.requests[index]))
        for (other, request) in Self.requests.enumerated() {
            #expect(Self.isServed(entry, to: request) == (other == index), "\(index) to \(other)")
        }
        #expect(!Self.isServed(entry, to: Self.request()))
    }

    @Test func `the order and the case of secret fields mean nothing`() throws {
        let entry = try #require(Self.stored(for: Self.request("a", ["X-Api-Key": "1", "X-Token": "2"])))
        #expect(Self.isServed(entry, to: Self.request("a", ["x-token": "2", "Accept": "*/*", "X-API-KEY": "1"])))
    }

    @Test func `a response that varies by Authorization is for the same user, even if it says that it is for others`()
        throws
    {
        let fields: Fields = ["Cache-Control": "public, max-age=60", "Vary": "Accept, Authorization"]
        let entry = try #require(Self.stored(for: Self.request("alice"), fields))
        #expect(Self.isServed(entry, to: Self.request("alice")))
        #expect(!Self.isServed(entry, to: Self.request("bob")) && !Self.isServed(entry, to: Self.request()))
    }

    @Test(arguments: ["Authorization", "Accept, X-Api-Key"])
    func `a response to a request without a field is not for those whose request may get it later`(vary: String) throws
    {
        let fields: Fields = ["Cache-Control": "public, max-age=60", "Vary": vary]
        let everybodys = try #require(Self.stored(for: Self.request(), fields))
        #expect(Self.isServed(everybodys, to: Self.request()) && !Self.isServed(everybodys, to: Self.request("alice")))
        let own = try #require(Self.stored(for: Self.request("alice"), fields))
        #expect(Self.isServed(own, to: Self.request("alice")))
        #expect(!Self.isServed(own, to: Self.request("bob")) && !Self.isServed(own, to: Self.request()))
    }

    @Test(arguments: ["private", "public"], ["alice", ""])
    func `the rest of a part is asked for only by whom the part came for`(says: String, first: String) throws {
        let fields: Fields = ["Cache-Control": "\(says), max-age=60", "ETag": "\"1\"", "Content-Length": "10"]
        let entry = try #require(Self.stored(for: Self.request(first), fields, count: 5))
        for next in ["alice", "bob", ""] {
            var machine = CacheMachine(Self.request(next), candidates: [entry], rules: PlayedCache.rules)
            guard case .send(let sending) = machine.begin(at: 1) else {
                Issue.record("a part is served")
                continue
            }
            let isOwn = first == next && (first == "" || says == "private")
            #expect(sending.fields.contains("range") == isOwn, "\(next)")
        }
    }

    @Test func `what a user's server confirms is theirs, and its body is known to be everybody's`() throws {
        let stale: Fields = ["Cache-Control": "max-age=0", "ETag": "\"1\""]
        let entry = try #require(Self.stored(for: Self.request(), stale))
        var machine = CacheMachine(Self.request("alice"), candidates: [entry], rules: PlayedCache.rules)
        _ = machine.begin(at: 1)
        let update = machine.answered(by: ResponseHead(status: 304, fields: Self.fresh), sentAt: 1, receivedAt: 1)
        guard case .update(_, let confirmed)? = update.changes.first else {
            Issue.record("it is not updated")
            return
        }
        #expect(Self.isServed(confirmed, to: Self.request("alice")) && !Self.isServed(confirmed, to: Self.request()))
        #expect(entry.whose.isEverybodys && confirmed.whose.isEverybodys)
        #expect(!(try #require(Self.stored(for: Self.request("alice")))).whose.isEverybodys)
    }

    @Test func `a response to a request without credentials is for everybody, as is one that says so`() throws {
        let nobodys = try #require(Self.stored(for: Self.request("", ["Accept": "*/*"])))
        let shared = try #require(Self.stored(for: Self.requests[2], ["Cache-Control": "public, max-age=60"]))
        for request in Self.requests + [Self.request()] {
            #expect(Self.isServed(nobodys, to: request) && Self.isServed(shared, to: request))
        }
    }

    @Test func `a user's own response comes before everybody's`() throws {
        let own = try #require(Self.stored(for: Self.requests[0]))
        let all = try #require(Self.stored(for: Self.request()))
        for candidates in [[own, all], [all, own]] {
            var machine = CacheMachine(Self.requests[0], candidates: candidates, rules: PlayedCache.rules)
            guard case .serve(let serving) = machine.begin(at: 1) else {
                Issue.record("not served")
                return
            }
            #expect(candidates[serving.index].owner == own.owner)
        }
    }

    @Test func `a response fetched under some terms is for requests under equal ones`() throws {
        for terms in ["", "guard 1", "guard 2"] {
            let answer: Fields = ["Cache-Control": "public, max-age=60"]
            let entry = try #require(Self.stored(for: Self.request("alice", terms: terms), answer))
            for other in ["", "guard 1", "guard 2"] {
                #expect(Self.isServed(entry, to: Self.request("bob", terms: other)) == (terms == other))
            }
        }
    }

    @Test func `a request that bypasses the cache finds and stores nothing`() throws {
        let entry = try #require(Self.stored(for: Self.request()))
        #expect(!Self.isServed(entry, to: Self.request(bypassesCache: true)))
        #expect(Self.stored(for: Self.request(bypassesCache: true)) == nil)
    }

    @Test func `an entry keeps only a hash of the user`() throws {
        let entry = try #require(Self.stored(for: Self.request("alice", Self.key)))
        #expect(entry.owner.user == Bytes("1:1:yek-ipa-xecila:5#"))
        var dumped = ""
        dump(entry, to: &dumped)
        #expect(!dumped.contains("ecila"))
        var machine = CacheMachine(Self.requests[0], candidates: [], rules: CacheRules { _, _ in nil })
        _ = machine.begin(at: 0)
        let update = machine.answered(
            by: ResponseHead(status: 200, fields: Self.fresh), sentAt: 0, receivedAt: 0)
        #expect(update.changes.isEmpty)
    }

    // MARK: - Host

    private static func key(_ host: String?) -> CacheKey {
        let fields: Fields = host.map { ["Host": $0] } ?? [:]
        return CacheKey(RequestHead(method: .get, origin: PlayedCache.origin, target: "/a", fields: fields))
    }

    @Test(.rules("9111-7.1-1")) func `a Host field of the request's own is part of the key`() {
        #expect(Self.key("a.test") == Self.key(nil) && Self.key("A.Test") == Self.key(nil))
        #expect(Self.key("b.test") != Self.key(nil) && Self.key("b.test") == Self.key("B.test"))
        #expect(Self.key("b.test") != Self.key("c.test"))
        #expect(CacheKey(text: Self.key("b.test").text) == Self.key("b.test"))
    }

    @Test func `a change at a Host of the request's own makes the cache forget what that has`() {
        let head = RequestHead(
            method: .put, origin: PlayedCache.origin, target: "/a", fields: ["Host": "b.test"])
        var machine = CacheMachine(CacheRequest(head), candidates: [], rules: PlayedCache.rules)
        _ = machine.begin(at: 0)
        let answer = ResponseHead(status: 200, fields: ["Content-Location": "/a"])
        let update = machine.answered(by: answer, sentAt: 0, receivedAt: 0)
        guard case .invalidate(let keys)? = update.changes.first else {
            Issue.record("nothing is forgotten")
            return
        }
        #expect(keys == [Self.key("b.test")])
    }
}
