import Dunlin
import DunlinTesting
import Folders
import FoundationEssentials
import LedgerRows
import Testing

@testable import DunlinSession

/// A cache that was given content which turned out to be wrong.
@Suite(.timeLimit(.minutes(10))) struct `Content that was proven wrong` {
    private let folder: Folder
    private let stage: CachedStage

    init() throws {
        folder = try Folder()
        stage = try CachedStage()
    }

    private func download(_ options: HTTPSession.Options = .init()) async throws -> String {
        let path = "\(folder.path)/\(UUID())"
        _ = try await stage.session.download("/a", options: options, to: .file(path))
        return try String(contentsOfFile: path, encoding: .utf8)
    }

    @Test func `by a digest is not served again`() async throws {
        let fields: Fields = [
            "Cache-Control": "max-age=60", "Repr-Digest": "sha-256=:dw5gdiTWiSZcpsRIhNCAfZsFTSPEc8EGxyvp3gi3N2w=:",
        ]
        stage.transport.on(.get, "/a").respond(fields: fields, body: "bad!")
            .thenRespond(fields: fields, body: "good").always()
        await #expect(throws: NetworkError.self) { try await download() }
        for _ in 1...2 { #expect(try await download() == "good") }
        #expect(stage.sent.count == 2)
    }

    @Test func `by a digest is not served again where a redirect led to it`() async throws {
        let fields: Fields = [
            "Cache-Control": "max-age=60", "Repr-Digest": "sha-256=:dw5gdiTWiSZcpsRIhNCAfZsFTSPEc8EGxyvp3gi3N2w=:",
        ]
        stage.transport.on(.get, "/a").respond(.found, fields: ["Location": "/b"]).always()
        stage.transport.on(.get, "/b").respond(fields: fields, body: "bad!")
            .thenRespond(fields: fields, body: "good").always()
        let path = "\(folder.path)/file"
        await #expect(throws: NetworkError.self) { try await stage.session.download("/a", to: .file(path)) }
        _ = try await stage.session.download("/a", to: .file(path))
        #expect(try String(contentsOfFile: path, encoding: .utf8) == "good")
    }

    @Test func `by its coding is not served again`() async throws {
        let fields: Fields = ["Cache-Control": "max-age=60"]
        stage.transport.on(.get, "/a")
            .respond(fields: fields.with("Content-Encoding", "gzip"), body: "no such thing")
            .thenRespond(fields: fields, body: "good").always()
        await #expect(throws: NetworkError.self) { try await download() }
        for _ in 1...2 { #expect(try await download() == "good") }
        #expect(try await stage.get().value == "good")
        #expect(stage.sent.count == 2)
    }

    @Test func `by its coding is not served again to who wants it in memory`() async throws {
        let fields: Fields = ["Cache-Control": "max-age=60"]
        stage.transport.on(.get, "/a")
            .respond(fields: fields.with("Content-Encoding", "gzip"), body: "no such thing")
            .thenRespond(fields: fields, body: "good").always()
        await #expect(throws: NetworkError.self) { try await stage.get() }
        for _ in 1...2 { #expect(try await stage.get().value == "good") }
        #expect(stage.sent.count == 2)
    }

    @Test(.rules("9110-15.3.7-1")) func `by its extent, as a part that nobody asked for, is no file`() async throws {
        stage.transport.on(.get, "/a").respond(206, fields: ["Content-Range": "bytes 3-6/100"], body: "part").always()
        let error = await #expect(throws: NetworkError.self) { try await download() }
        #expect(error?.code == .invalidResponse)
        // Whoever asks for a part gets it, and the digest of the whole says nothing about it.
        stage.transport.on(.get, "/a").respond(
            206,
            fields: [
                "Content-Range": "bytes 3-6/100",
                "Repr-Digest": "sha-256=:dw5gdiTWiSZcpsRIhNCAfZsFTSPEc8EGxyvp3gi3N2w=:",
            ], body: "part"
        ).always()
        #expect(try await download(.init(fields: ["Range": "bytes=3-6"])) == "part")
    }

    @Test(
        .rules("9110-14.2-1", "9110-15.3.7-5"),
        arguments: [
            ([:], true), (["Content-Range": "bytes 0-4/5"], true), (["Content-Range": "bytes 0-4/9"], false),
            (["Content-Range": "bytes 1-5/6"], false), (["Content-Range": "bytes 0-4/*"], false),
            (["Content-Range": "bytes */5"], false), (["Content-Range": "items 0-4/5"], false),
        ] as [(Fields, Bool)])
    func `by its extent, is refused where it is a part that nobody asked for`(fields: Fields, isWhole: Bool)
        async throws
    {
        let fields = fields.with("Cache-Control", "max-age=60")
        stage.transport.on(.get, "/a").respond(206, fields: fields, body: "whole").always()
        for _ in 1...2 {
            if isWhole {
                #expect(try await stage.get().value == "whole")
                #expect(try await download() == "whole")
            } else {
                #expect(await #expect(throws: NetworkError.self) { try await stage.get() }?.code == .invalidResponse)
                #expect(await #expect(throws: NetworkError.self) { try await download() }?.code == .invalidResponse)
            }
        }
    }
}

extension Fields {
    fileprivate func with(_ name: String, _ value: String) -> Fields {
        var fields = self
        fields[name] = value
        return fields
    }
}
