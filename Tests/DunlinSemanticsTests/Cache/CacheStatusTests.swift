import DunlinSemantics
import DunlinTypes
import Testing

@Suite struct `Cache-Status` {
    private static func status(
        _ handling: CacheStatus.Handling, _ change: (inout CacheStatus) -> Void = { _ in }
    ) -> CacheStatus {
        var status = CacheStatus(handling)
        change(&status)
        return status
    }

    static let members: [(CacheStatus, String)] = [
        (status(.hit), "Dunlin; hit"), (status(.hit) { $0.remaining = 376 }, "Dunlin; hit; ttl=376"),
        (status(.hit) { $0.remaining = -412 }, "Dunlin; hit; ttl=-412"),
        (status(.hit) { $0.remaining = .min }, "Dunlin; hit; ttl=-999999999999999"),
        (status(.hit) { $0.remaining = .max }, "Dunlin; hit; ttl=999999999999999"),
        (
            status(.hit) { ($0.isStored, $0.isCollapsed, $0.forwardStatus) = (true, true, 200) }, "Dunlin; hit"
        ),
        (status(.forwarded(.uriMiss)), "Dunlin; fwd=uri-miss"),
        (status(.forwarded(.varyMiss)) { $0.isStored = true }, "Dunlin; fwd=vary-miss; stored"),
        (
            status(.forwarded(.stale)) { ($0.forwardStatus, $0.isCollapsed) = (304, true) },
            "Dunlin; fwd=stale; fwd-status=304; collapsed"
        ),
        (status(.forwarded(.bypass)) { $0.detail = "memory" }, "Dunlin; fwd=bypass; detail=memory"),
        (status(.hit) { $0.detail = "a \"b\\" }, #"Dunlin; hit; detail="a \"b\\""#),
        (status(.hit) { $0.detail = "1" }, #"Dunlin; hit; detail="1""#),
        (status(.hit) { $0.key = "https://a.test/a" }, #"Dunlin; hit; key="https://a.test/a""#),
        (status(.hit) { ($0.key, $0.detail) = ("\u{E4}", "a\nb") }, "Dunlin; hit"),
        (status(.forwarded(.method)), "Dunlin; fwd=method"), (status(.forwarded(.request)), "Dunlin; fwd=request"),
        (status(.forwarded(.partial)), "Dunlin; fwd=partial"),
    ]

    @Test(arguments: members) func `Cache-Status is written as RFC 9211 says`(status: CacheStatus, expected: String) {
        #expect(status.member(named: "Dunlin") == expected)
    }

    @Test func `a name in Cache-Status that is no token is written as a string`() {
        #expect(CacheStatus(.hit).member(named: "my cache") == "\"my cache\"; hit")
        #expect(CacheStatus(.hit).member(named: "") == "\"\"; hit")
        #expect(CacheStatus(.hit).member(named: "\u{E4}") == "cache; hit")
    }

    private static let tag: Fields = ["Cache-Control": "max-age=2", "ETag": #""a""#]

    static let reasons: [(CacheScenario, CacheStep, CacheStatus.Forward, Bool)] = [
        (CacheScenario("none"), CacheStep(response: tag), .uriMiss, true),
        (CacheScenario("none"), CacheStep(response: ["Cache-Control": "no-store"]), .uriMiss, false),
        (
            CacheScenario("other", .first(["Cache-Control": "max-age=9", "Vary": "Foo"])),
            CacheStep(request: ["Foo": "1"]), .varyMiss, true
        ),
        (CacheScenario("stale", .first(tag)), CacheStep(confirms: true), .stale, false),
        (CacheScenario("stale", .first(tag)), CacheStep(), .stale, true),
        (CacheScenario("post"), CacheStep(method: .post), .method, false),
        (CacheScenario("off"), CacheStep(mode: .off, response: tag), .bypass, false),
        (CacheScenario("reload"), CacheStep(mode: .reloading, response: tag), .request, true),
        (
            CacheScenario("fresh", .first(["Cache-Control": "max-age=9"])),
            CacheStep(request: ["Cache-Control": "no-cache"]), .request, true
        ),
        (
            CacheScenario("beyond", .first(["Cache-Control": "max-age=9"])),
            CacheStep(request: ["Range": "bytes=99-"], status: 416), .partial, false
        ),
    ]

    @Test(arguments: reasons.indices) func `Cache-Status says why the request was sent to the network`(index: Int)
        throws
    {
        let (scenario, step, reason, isStored) = Self.reasons[index]
        var cache = scenario.play()
        let status = try #require(cache.play(step).note)
        #expect(status.handling == .forwarded(reason))
        #expect(status.isStored == isStored)
        #expect(status.forwardStatus == (step.confirms ? 304 : step.status))
    }

    @Test func `Cache-Status says for how long a hit remains fresh`() throws {
        var cache = CacheScenario("fresh", .first(["Cache-Control": "max-age=9"])).play()
        #expect(try #require(cache.play(CacheStep()).note).member(named: "Dunlin") == "Dunlin; hit; ttl=6")
    }

    @Test func `Cache-Status says that a stored response replaced a failure`() throws {
        var cache = CacheScenario("stale", .first(["Cache-Control": "max-age=2, stale-if-error=9"])).play()
        let status = try #require(cache.play(CacheStep(status: 503)).note)
        #expect(status.member(named: "Dunlin") == "Dunlin; fwd=stale; fwd-status=503; ttl=-1; detail=stale-if-error")
    }
}
