import DunlinSemantics
import DunlinTypes
import LedgerRows
import Testing

@Suite struct `Cache-Control` {
    private static func response(_ values: String...) -> ResponseDirectives {
        var fields = Fields()
        for value in values { fields.append(name: "Cache-Control", value: value) }
        return ResponseDirectives(fields)
    }

    private static func request(_ values: String...) -> RequestDirectives {
        var fields = Fields()
        for value in values { fields.append(name: "Cache-Control", value: value) }
        return RequestDirectives(fields)
    }

    @Test(
        .rules("9110-5.6.4-1", "9111-4.2.1-3", "9111-5.2-2", "9111-5.2-3", "9111-5.2-4", "9111-5.2.3-1"),
        arguments: [
            ("max-age=3600", 3600), ("max-age=003600", 3600), (#"max-age="3600""#, 3600), (#"max-age="36\00""#, 3600),
            ("MAX-AGE=1", 1), (" , ,max-age=1\t, ", 1), ("max-age=3600,", 3600), ("max-age=0", 0),
            ("max-age=9223372036854775807", .max), ("max-age=9223372036854775808", .max),
            // What cannot be read leaves nothing of a lifetime.
            ("max-age", 0), ("max-age=", 0), ("max-age=3600a", 0), ("max-age=a3600", 0), ("max-age=3600.0", 0),
            ("max-age=3600.5", 0), ("max-age=-1", 0), ("max-age=+1", 0), ("max-age='3600'", 0), ("max-age =3600", 0),
            ("max-age= 3600", 0), (#"max-age="3600"#, 0), (#"max-age="""#, 0), ("max-age=3600 60", 0),
            ("max-age=3600;x", 0), ("max-age:3600", 0), ("max-age=1=2", 0),
            // Neither does a contradiction.
            ("max-age=1, max-age=1", 1), ("max-age=1800, max-age=1", 0), ("max-age=1, max-age=1800", 0),
            // Another directive's argument is none of its own.
            (#"extension="max-age=3600""#, nil), (#"extension="max-age=3600", max-age=1"#, 1),
            (#"max-age=1, extension="max-age=3600""#, 1), (#"extension="a\", max-age=2", max-age=1"#, 1),
            ("s-maxage=1", nil), ("x-max-age=1", nil), ("", nil), (",", nil), ("maxage=1", nil),
            // Where a quote is not closed, or something has no name, nothing is believed.
            (#"extension="max-age=3600, max-age=1"#, 0), ("=1, max-age=3600", 0), ("@, max-age=3600", 0),
        ] as [(String, Int64?)])
    func `a lifetime is digits after the name, and nothing similar`(value: String, seconds: Int64?) {
        #expect(Self.response(value).maxAge == seconds)
    }

    @Test(.timeLimit(.minutes(3))) func `a field with many quotes that are never closed is read once`() {
        let bad = String(repeating: #"a="\"\"@,"#, count: 20_000)
        let directives = Self.response(bad + "no-store, max-age=9")
        #expect(directives.isNoStore && directives.maxAge == 0)
    }

    @Test(.rules("9110-5.2-1")) func `several fields are one`() {
        #expect(Self.response("public", "max-age=3").maxAge == 3)
        #expect(Self.response("max-age=1800", "max-age=1").maxAge == 0)
        #expect(Self.response("no-store", "max-age=3").isNoStore)
    }

    static let forbidding: [(String, @Sendable (ResponseDirectives) -> Bool)] = [
        ("no-store", { $0.isNoStore }), ("no-cache", { $0.isNoCache }), ("must-revalidate", { $0.mustRevalidate }),
        ("no-transform", { $0.isNoTransform }), ("private", { $0.isPrivate }),
    ]

    @Test(.rules("9111-5.2-2"), arguments: forbidding.indices)
    func `directives that forbid count however they are written`(index: Int) {
        let (name, counts) = Self.forbidding[index]
        let written = [
            name, name.uppercased(), "x, \(name)", "\(name), x", "\(name),max-age=1", "\(name) x", "\(name)=@",
            "\(name)=", "\(name) =x", #"x="y, \#(name)"#, #"\#(name)="a"#, "@, \(name)", "\(name);x=y",
        ]
        for value in written { #expect(counts(Self.response(value)), "\(value)") }
        for value in ["x-\(name)", "\(name)-x", #"x="\#(name)""#, "", "max-age=1"] {
            #expect(!counts(Self.response(value)), "\(value)")
        }
    }

    @Test(
        arguments: [
            ("public", true), ("public=1", false), ("public x", false), (#"x="public"#, false), ("PUBLIC", true),
        ])
    func `directives that permit count only if they are well-formed`(value: String, counts: Bool) {
        #expect(Self.response(value).isPublic == counts)
        let understood = value.replacing("public", with: "must-understand").replacing("PUBLIC", with: "Must-Understand")
        #expect(Self.response(understood).mustUnderstand == counts)
    }

    @Test(
        arguments: [
            ("immutable", true), ("immutable=1", true), (#"immutable="x""#, true), ("immutable x", false), ("", false),
        ])
    func `an argument of immutable means nothing`(value: String, counts: Bool) {
        #expect(Self.response(value).isImmutable == counts)
    }

    @Test(
        .rules("9111-5.2.2-5"),
        arguments: [
            (#"no-cache="a""#, ["a"], false), (#"no-cache="A, b""#, ["a", "b"], false), ("no-cache=a", ["a"], false),
            (#"no-cache="a", no-cache="b""#, ["a", "b"], false), (#"no-cache="a", no-cache"#, ["a"], true),
            (#"no-cache="""#, [], true), (#"no-cache=",""#, [], true), (#"no-cache="a b""#, [], true),
            (#"no-cache="a@""#, [], true), (#"no-cache="a"#, [], true), ("no-cache", [], true),
            (#"private="a""#, [], false),
        ] as [(String, Set<String>, Bool)])
    func `no-cache with the names of fields is about these alone`(value: String, names: Set<String>, isWhole: Bool) {
        let directives = Self.response(value)
        #expect(directives.unstoredFields == names)
        #expect(directives.isNoCache == isWhole)
    }

    @Test(
        arguments: [
            ("stale-while-revalidate=5", 5), ("stale-while-revalidate=5, stale-while-revalidate=3", 3),
            ("stale-while-revalidate=3, stale-while-revalidate=5", 3), ("stale-while-revalidate", 0),
            ("stale-while-revalidate=x", 0), ("stale-while-revalidate=5, stale-while-revalidate=x", 0), ("", nil),
            (#"stale-while-revalidate=5, x="y"#, nil), (#"stale-while-revalidate="5""#, 5),
        ] as [(String, Int64?)])
    func `a stale response is permitted for the shortest time that is said`(value: String, seconds: Int64?) {
        #expect(Self.response(value).staleWhileRevalidate == seconds)
        let error = value.replacing("stale-while-revalidate", with: "stale-if-error")
        #expect(Self.response(error).staleIfError == seconds)
        #expect(Self.request(error.isEmpty ? "x" : error).staleIfError == seconds)
    }

    @Test(
        arguments: [
            ("max-age=5", 5, nil, nil), ("max-age=5, max-age=3", 3, nil, nil), ("max-age=x", 0, nil, nil),
            ("max-age", 0, nil, nil), ("min-fresh=5", nil, 5, nil), ("min-fresh=5, min-fresh=3", nil, 5, nil),
            ("min-fresh=x", nil, .max, nil), ("min-fresh", nil, .max, nil), ("max-stale", nil, nil, .max),
            ("max-stale=5", nil, nil, 5), ("max-stale=5, max-stale", nil, nil, 5), ("max-stale=x", nil, nil, 0),
            ("max-stale =5", nil, nil, 0), (#"max-stale, x="y"#, nil, nil, nil), ("only-if-cached", nil, nil, nil),
        ] as [(String, Int64?, Int64?, Int64?)])
    func `the strictest reading of a request counts`(
        value: String, maxAge: Int64?, minFresh: Int64?, maxStale: Int64?
    ) {
        let directives = Self.request(value)
        #expect(directives.maxAge == maxAge)
        #expect(directives.minFresh == minFresh)
        #expect(directives.maxStale == maxStale)
    }

    @Test func `a request may ask for no cache, no store, and nothing but the cache`() {
        #expect(Self.request("No-Cache=x").isNoCache)
        #expect(Self.request("no-store").isNoStore)
        #expect(Self.request("only-if-cached").isOnlyIfCached)
        #expect(Self.request(#"x="y"#).isNoCache)
        #expect(Self.request("x") == Self.request("no-transform"))
        #expect(RequestDirectives([:]) == RequestDirectives())
    }

    @Test(
        .rules("9111-5.4-1"),
        arguments: [
            (["Pragma": "no-cache"], true), (["Pragma": "No-Cache"], true), (["Pragma": "x, no-cache"], true),
            (["Pragma": "unrecognised-extension"], false), (["Pragma": "no-cache=x"], true), ([:], false),
            (["Pragma": "no-cache", "Cache-Control": "max-age=10"], false),
            (["Pragma": "no-cache", "Cache-Control": ""], false),
        ] as [(Fields, Bool)])
    func `Pragma counts in a request without Cache-Control`(fields: Fields, isNoCache: Bool) {
        #expect(RequestDirectives(fields).isNoCache == isNoCache)
    }
}
