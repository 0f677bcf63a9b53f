import Dunlin
import DunlinTesting
import Folders
import Foundation
import LedgerRows
import Testing

/// What listeners are told of downloads that have no file in the end.
@Suite(.timeLimit(.minutes(10)))
struct `A destination that fails` {
    typealias Options = HTTPSession.DownloadOptions

    static let paths = ["missing/x", "file", "sub", "file/x", "", "a\0b"]

    /// The failures that are told of until a request is over.
    private static func told(_ events: some AsyncSequence<HTTPSession.Event, Never>) async -> [NetworkError] {
        var told: [NetworkError] = []
        for await event in events {
            if case .fileMoveFailed(_, let error) = event { told.append(error) }
            if case .completed = event { break }
        }
        return told
    }

    @Test(.rows("SM-63", "NO-5"), arguments: paths, [HTTPSession.Resuming.never, .ifValidatorMatches])
    func `an observer is told of a destination that fails, wherever it fails`(
        path: String, resuming: HTTPSession.Resuming
    ) async throws {
        let folder = try Folder()
        try folder.write("old", as: "file")
        try FileManager.default.createDirectory(atPath: "\(folder.path)/sub", withIntermediateDirectories: false)
        try await Stage.with { (stage: Stage) async throws in
            stage.server.respond { _ in .response(fields: ["ETag": #""one""#], body: "new") }
            let events = stage.session.events
            let error = try await NetworkError.thrown {
                _ = try await stage.session.download(
                    "x", to: .file("\(folder.path)/\(path)"), transfer: Options(resuming: resuming))
            }
            #expect(error.code == .fileNotCreated)
            let told = await Self.told(events)
            #expect(told.count == 1 && told.first?.code == error.code)
            #expect(told.first?.fileFailure?.path == error.fileFailure?.path)
        }
    }

    @Test(.enabled(if: Mount.isPossible, "takes root: a full disk is not tested"), arguments: [true, false])
    func `an observer is told when there is no room for a download`(isKnownBefore: Bool) async throws {
        let disk = try Mount(size: 1 << 20)
        try await Stage.with(tolerating: true) { (stage: Stage) async throws in
            stage.server.enqueue(.generated(length: 8 << 20))
            var options = Options()
            options.preallocates = isKnownBefore
            let events = stage.session.events
            await #expect(throws: NetworkError.self) {
                try await stage.session.download("x", to: .folder(disk.path), transfer: options)
            }
            #expect(await Self.told(events).map(\.code) == [isKnownBefore ? .fileNotCreated : .fileNotWritten])
        }
    }

    @Test func `an observer is told of no failed file where a download fails for other reasons`() async throws {
        let folder = try Folder()
        try await Stage.with { (stage: Stage) async throws in
            stage.server.respond { _ in .response(404) }
            let events = stage.session.events
            await #expect(throws: NetworkError.self) {
                try await stage.session.download("x", to: .folder(folder.path))
            }
            #expect(await Self.told(events).isEmpty)
        }
    }
}
