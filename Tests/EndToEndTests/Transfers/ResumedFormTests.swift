import Dunlin
import DunlinTesting
import Folders
import Synchronization
import Testing

/// A server may give all forms of a file, such as its types and languages, one strong tag.
@Suite(.timeLimit(.minutes(10))) struct `A download and the form of its file` {
    private static let length = 1 << 20
    private static let arrived = 100_000

    private static func entity(_ offset: Int) -> LoopbackServer.Entity {
        LoopbackServer.Entity(length: length, offset: offset, tag: #""one""#)
    }

    private static let (first, second) = (entity(0), entity(1))

    /// Serves another form to requests with `second` among their fields, or where those are redirected to. The first
    /// answer is cut short.
    private static func serve(_ stage: Stage, varyingBy names: String?, redirecting: Bool) {
        let asked = Atomic(0)
        stage.server.respond { request in
            var isSecond = request.fields.contains { $0.value.hasSuffix("second") }
            if redirecting {
                guard request.target.hasPrefix("/form") else {
                    let form = isSecond ? "/form?second" : "/form?first"
                    return .response(302, fields: ["Location": form, "Vary": names ?? "Accept"])
                }
                isSecond = request.target.hasSuffix("second")
            }
            var entity = isSecond ? second : first
            if !redirecting, let names { entity.fields = ["Vary": names] }
            let isFirst = asked.add(1, ordering: .relaxed).oldValue == 0
            return isFirst ? entity.reply(to: request, .stall(after: arrived)) : entity.reply(to: request)
        }
    }

    /// Downloads a part with some fields, and goes on with others. Returns where it went on.
    private static func resumedAt(
        _ fields: Fields, then others: Fields, byData: Bool, varyingBy names: String?, redirecting: Bool = false,
        jar: CookieJar? = nil, expecting entity: LoopbackServer.Entity
    ) async throws -> Int {
        let folder = try Folder()
        var start = 0
        try await Stage.with(
            tolerating: true,
            configure: {
                $0.redirects.secretFields = ["X-Own-Secret"]
                $0.cookies = jar
            }
        ) { (stage: Stage) async throws in
            serve(stage, varyingBy: names, redirecting: redirecting)
            try jar?.set(HTTP.Cookie(name: "form", value: "first", domain: stage.server.address.host))
            let destination = HTTPSession.Destination.file("\(folder.path)/file")
            let task = try stage.session.downloadTask(
                "file", fields: fields, to: destination, resuming: .ifValidatorMatches)
            task.resume()
            try await stage.eventually("much has come") { task.downloaded.wireBytes == arrived }
            let data = try #require(await task.cancelProducingResumeData())
            if entity.bytes == second.bytes {
                try jar?.set(HTTP.Cookie(name: "form", value: "second", domain: stage.server.address.host))
            }
            let file =
                if byData {
                    try await stage.session.download(
                        resumeData: data, options: HTTPSession.Options(fields: others), to: destination
                    ).value
                } else {
                    try await stage.session.download(
                        "file", fields: others, to: destination, resuming: .ifValidatorMatches
                    ).value
                }
            #expect(try folder.contents("file") == entity.bytes)
            start = file.resumedAt
        }
        return start
    }

    @Test(
        arguments: [
            ("Accept", nil), ("Accept", "Accept-Encoding"), ("accept-language", "Accept-Language"),
            ("X-Format", "Origin, x-format"), ("User-Agent", "User-Agent"), ("X-Format", "*"),
        ] as [(String, String?)], [true, false])
    func `a download is not continued in another form`(field: (name: String, vary: String?), byData: Bool) async throws
    {
        let start = try await Self.resumedAt(
            [field.name: "first"], then: [field.name: "second"], byData: byData, varyingBy: field.vary,
            expecting: Self.second)
        #expect(start == 0)
    }

    /// A language is often the system's, so it counts only if the server says so, as do names of the request. Members
    /// with weights are the same in any order.
    @Test(
        arguments: [
            (["X-Request-ID": "1"], ["X-Request-ID": "2"], "Accept"),
            (["Accept-Language": "de"], ["Accept-Language": "fr"], "Accept"),
            (["X-Format": "1"], ["X-Format": "1"], "X-Format"),
            (["Accept-Language": "de, en;q=0.5"], ["Accept-Language": "en;q=0.5,de"], "Accept-Language"),
            ([:], ["Accept": "*/*"], "Accept"),
            (["X-Own-Secret": "1"], ["X-Own-Secret": "1"], "X-Own-Secret"),
        ] as [(Fields, Fields, String)], [true, false])
    func `a download is continued in the same form`(row: (Fields, Fields, vary: String), byData: Bool) async throws {
        let start = try await Self.resumedAt(
            row.0, then: row.1, byData: byData, varyingBy: row.vary, expecting: Self.first)
        #expect(start == Self.arrived)
    }

    @Test(arguments: [true, false], [true, false])
    func `a download is not continued in the form that a redirect now leads to`(isAnother: Bool, byData: Bool)
        async throws
    {
        let start = try await Self.resumedAt(
            ["X-Format": "first"], then: ["X-Format": isAnother ? "second" : "first"], byData: byData,
            varyingBy: "X-Format", redirecting: true, expecting: isAnother ? Self.second : Self.first)
        #expect(start == (isAnother ? 0 : Self.arrived))
    }

    @Test(
        arguments: [
            ("Cookie", true, true), ("Cookie", true, false), ("Cookie", false, true), ("Cookie", false, false),
            ("Accept", false, false),
        ], [true, false])
    func `a download is not continued with other cookies if the server or a redirect varies by them`(
        row: (vary: String, isAnother: Bool, redirecting: Bool), byData: Bool
    ) async throws {
        let start = try await Self.resumedAt(
            [:], then: [:], byData: byData, varyingBy: row.vary, redirecting: row.redirecting, jar: CookieJar(),
            expecting: row.isAnother ? Self.second : Self.first)
        #expect(start == (row.isAnother ? 0 : Self.arrived))
    }
}
