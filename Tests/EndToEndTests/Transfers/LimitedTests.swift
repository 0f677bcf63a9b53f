import Dunlin
import DunlinTesting
import Folders
import Foundation
import Testing

/// Downloads of a process that gets less from the kernel than it asks for: limits are a process's own, and what a disk
/// says that is not at hand a filter for calls says in its place.
@Suite(.timeLimit(.minutes(10))) struct `A download where files are limited` {
    private static let length = 4 << 20

    private struct Scene {
        let folder: Folder
        let server: LoopbackServer
        let entity = LoopbackServer.Entity(length: length, tag: #""one""#)

        init() throws {
            folder = try Folder()
            server = try LoopbackServer()
            server.respond { [entity] in entity.reply(to: $0) }
        }

        /// What it says in its last line.
        func download(
            _ limit: String, isKept: Bool, preallocates: Bool = true, segments: Int = 1
        ) async throws -> String? {
            let peer = try Peer([
                "limited", limit, "download", "\(server.baseURL)/file", "\(folder.path)/file", isKept ? "kept" : "-",
                "\(preallocates)", "\(segments)",
            ])
            return try await peer.end().lines.last
        }
    }

    static let limits: [(String, [Bool], Int32)] = [
        // Room that is set aside is not counted against that limit, and is against a quota.
        ("size:1048576", [false, false], EFBIG), ("quota:1048576", [true, false], EDQUOT),
        ("quota:1", [true, false], EDQUOT),
    ]

    @Test(arguments: limits, [1, 4])
    func `a download without room says so, and leaves nothing behind`(
        limit: (words: String, isKnownBefore: [Bool], errno: Int32), segments: Int
    ) async throws {
        let scene = try Scene()
        defer { scene.server.stop() }
        for (preallocates, isKnownBefore) in zip([true, false], limit.isKnownBefore) {
            let end = try await scene.download(
                limit.words, isKept: false, preallocates: preallocates, segments: segments)
            let code = isKnownBefore ? "fileNotCreated" : "fileNotWritten"
            #expect(end == "\(code) \(limit.errno) no room nothing")
            #expect(try scene.folder.names().isEmpty)
        }
    }

    @Test(arguments: ["size:1048576", "quota:1048576"])
    func `a download keeps what there was room for, and goes on from there once there is more`(limit: String)
        async throws
    {
        let scene = try Scene()
        defer { scene.server.stop() }
        let end = try #require(try await scene.download(limit, isKept: true, preallocates: false))
        let kept = try #require(end.split(separator: " ").last.flatMap { Int($0) })
        #expect(end.hasPrefix("fileNotWritten") && (1..<Self.length).contains(kept))
        #expect(try scene.folder.names() == [".file.dunlin-part", ".file.dunlin-record"])
        let again = try await scene.download("size:\(Self.length)", isKept: true)
        #expect(again == "done \(kept) \(Self.length)")
        #expect(try scene.folder.contents("file") == scene.entity.bytes)
        #expect(try scene.folder.names() == ["file"])
    }

    static let refusals = [ENOLCK, EOPNOTSUPP]

    @Test(arguments: refusals, [1, 4])
    func `a download needs no file locks`(errno: Int32, segments: Int) async throws {
        let scene = try Scene()
        defer { scene.server.stop() }
        let end = try await scene.download("locks:\(errno)", isKept: true, segments: segments)
        #expect(end == "done 0 \(Self.length)")
        #expect(try scene.folder.contents("file") == scene.entity.bytes)
        #expect(try scene.folder.names() == ["file"])
    }

    @Test func `a failed download leaves no part where there are no file locks`() async throws {
        let scene = try Scene()
        defer { scene.server.stop() }
        scene.server.respond { [entity = scene.entity] request in
            request.fields["range"] == nil ? entity.reply(to: request, .short(after: 300_000)) : .response(404)
        }
        let error = try #require(try await scene.download("locks:\(ENOLCK)", isKept: true))
        #expect(error.hasSuffix(" nothing"))
        #expect(try scene.folder.names().isEmpty)
    }

    @Test func `a download without file locks does not touch a part that another may be writing`() async throws {
        let scene = try Scene()
        defer { scene.server.stop() }
        _ = try await scene.download("quota:1048576", isKept: true, preallocates: false)
        let names = try scene.folder.names()
        let (part, record) = (try scene.folder.contents(names[0]), try scene.folder.contents(names[1]))
        #expect(names.count == 2 && part.count > 0)
        let end = try await scene.download("locks:\(ENOLCK)", isKept: true)
        #expect(end == "done 0 \(Self.length)")
        #expect(try scene.folder.contents("file") == scene.entity.bytes)
        #expect(try scene.folder.names() == names + ["file"])
        #expect(try scene.folder.contents(names[0]) == part && scene.folder.contents(names[1]) == record)
    }

    @Test(arguments: refusals) func `a journal refuses a download where there are no file locks, and says so`(
        errno: Int32
    ) async throws {
        let scene = try Scene()
        defer { scene.server.stop() }
        let peer = try Peer([
            "limited", "locks:\(errno)", "enqueue", "\(scene.folder.path)/journal", "\(scene.server.baseURL)/file",
            "\(scene.folder.path)/file",
        ])
        #expect(try await peer.end().lines == ["FileFailure \(errno) - nothing"])
        #expect(try scene.folder.names() == ["journal"])
        #expect(try scene.folder.names("journal").isEmpty)
    }
}
