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

    /// Serves another form to requests with `second` among their fields. The first answer is cut short.
    private static func serve(_ stage: Stage, varyingBy names: String?) {
        let asked = Atomic(0)
        stage.server.respond { request in
            let isSecond = request.fields.contains { $0.value == "second" }
            var entity = isSecond ? second : first
            if let names { entity.fields = ["Vary": names] }
            let isFirst = asked.add(1, ordering: .relaxed).oldValue == 0
            return isFirst ? entity.reply(to: request, .stall(after: arrived)) : entity.reply(to: request)
        }
    }

    /// Downloads a part with some fields, and goes on with others. Returns where it went on.
    private static func resumedAt(
        _ fields: Fields, then others: Fields, byData: Bool, varyingBy names: String?,
        expecting entity: LoopbackServer.Entity
    ) async throws -> Int {
        let folder = try Folder()
        var start = 0
        try await Stage.with(tolerating: true, configure: { $0.redirects.secretFields = ["X-Own-Secret"] }) {
            (stage: Stage) async throws in
            serve(stage, varyingBy: names)
            let destination = HTTPSession.Destination.file("\(folder.path)/file")
            let task = try stage.session.downloadTask(
                "file", fields: fields, to: destination, resuming: .ifValidatorMatches)
            task.resume()
            try await stage.eventually("much has come") { task.downloaded.wireBytes == arrived }
            let data = try #require(await task.cancelProducingResumeData())
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
            ("X-Format", "Origin, x-format"), ("User-Agent", "User-Agent"),
        ] as [(String, String?)], [true, false])
    func `a download is not continued in another form`(field: (name: String, vary: String?), byData: Bool) async throws
    {
        let start = try await Self.resumedAt(
            [field.name: "first"], then: [field.name: "second"], byData: byData, varyingBy: field.vary,
            expecting: Self.second)
        #expect(start == 0)
    }

    /// A language is often the system's, so it counts only if the server says so, as do names of the request. Members
    /// with weights are the same in any order. That a form depends on everything says nothing of these two requests.
    @Test(
        arguments: [
            (["X-Request-ID": "1"], ["X-Request-ID": "2"], "Accept"),
            (["Accept-Language": "de"], ["Accept-Language": "fr"], "Accept"),
            (["X-Format": "1"], ["X-Format": "1"], "X-Format"),
            (["Accept-Language": "de, en;q=0.5"], ["Accept-Language": "en;q=0.5,de"], "Accept-Language"),
            ([:], ["Accept": "*/*"], "Accept"),
            (["X-Format": "1"], ["X-Format": "2"], "*"),
            (["X-Own-Secret": "1"], ["X-Own-Secret": "1"], "X-Own-Secret"),
        ] as [(Fields, Fields, String)], [true, false])
    func `a download is continued in the same form`(row: (Fields, Fields, vary: String), byData: Bool) async throws {
        let start = try await Self.resumedAt(
            row.0, then: row.1, byData: byData, varyingBy: row.vary, expecting: Self.first)
        #expect(start == Self.arrived)
    }
}
