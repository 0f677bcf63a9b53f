import Dunlin
import DunlinFoundation
import DunlinInflate
import DunlinReactor
import DunlinTesting
import Folders
import Foundation
import LedgerRows
import Synchronization
import Testing

/// Whatever goes wrong: the error says what, the destination is as it was, and no part file is left.
@Suite(.inClearAndOverTLS, .timeLimit(.minutes(10)))
struct `A download that fails` {
    typealias Options = HTTPSession.DownloadOptions
    typealias Handle = HTTPSession.RequestTask<HTTPSession.DownloadedFile>

    struct Fault: Sendable, CustomTestStringConvertible {
        var testDescription: String
        var reply: LoopbackServer.Reply
        var code: NetworkError.Code
    }

    private static let long = LoopbackServer.Reply.generated(length: 1 << 20)

    static let faults: [Fault] = [
        Fault(testDescription: "reset in the head", reply: long.resetAfter(10), code: .connectionClosed),
        Fault(testDescription: "reset in the body", reply: long.resetAfter(600_000), code: .connectionClosed),
        Fault(testDescription: "short", reply: long.truncatedAfter(600_000), code: .connectionClosed),
        Fault(
            testDescription: "broken chunk",
            reply: LoopbackServer.Reply.response(
                fields: ["Transfer-Encoding": "chunked"], body: "5\r\nhello\r\nzz\r\n"),
            code: .invalidResponse),
        Fault(
            testDescription: "broken coding",
            reply: .response(fields: ["Content-Encoding": "gzip"], body: "this is not gzip"), code: .invalidContent),
    ]

    @Test(.rows("SM-69"), arguments: faults) func `a download that fails in transfer leaves nothing behind`(
        fault: Fault
    ) async throws {
        let folder = try Folder()
        try folder.write("old", as: "x")
        try await Stage.with(tolerating: true) { (stage: Stage) async throws in
            stage.server.enqueue(fault.reply)
            let error = try await NetworkError.thrown {
                _ = try await stage.session.download(
                    "x", to: .folder(folder.path), transfer: Options(overwrites: true))
            }
            #expect(error.code == fault.code)
            #expect(try folder.names() == ["x"])
            #expect(try folder.contents("x") == "old")
            #expect(await stage.session.tasks.count == 0)
            try await stage.expectHealthy()
        }
    }

    /// The response may be released by a thread for files, and with it what the cache was writing.
    @Test func `a coded body that turns out to be damaged ends its download, beside a cache folder`() async throws {
        let folder = try Folder()
        var encoder = try ContentEncoder(.gzip)
        var wire = encoder.encode(LoopbackServer.GeneratedBody.bytes(0..<400_000)).array + encoder.finish().array
        wire.replaceSubrange(wire.count / 2..<wire.count / 2 + 64, with: [UInt8](repeating: 0xFF, count: 64))
        let fields: Fields = ["Content-Encoding": "gzip", "ETag": "\"v1\"", "Cache-Control": "max-age=100"]
        let reply = LoopbackServer.Reply.response(fields: fields, body: Bytes(wire))
        let cache = HTTPSession.Cache(folder: folder.path + "/cache")
        try await Stage.with(tolerating: true, configure: { $0.cache = cache }) { (stage: Stage) async throws in
            stage.server.respond { _ in reply }
            for _ in 1...100 {
                let error = try await NetworkError.thrown {
                    _ = try await stage.session.download("x", to: .file("\(folder.path)/x"))
                }
                #expect(error.code == .invalidContent)
            }
        }
        await cache.close()
    }

    enum Moment: CaseIterable { case waiting, head, body, decision, hook }

    /// Gets a download stuck, with some of the body in the part file if it has come so far.
    private static func stuck(
        _ moment: Moment, _ play: (Stage, Handle) async throws -> Void
    ) async throws {
        let folder = try Folder()
        let (entered, silence) = (LoopbackServer.Gate(), AsyncStream.makeStream(of: Int.self))
        try await Stage.with(tolerating: true) { (stage: Stage) async throws in
            stage.server.enqueue(moment == .head ? [.stall] : Self.long.stallingAfter(600_000))
            var options = HTTPSession.Options()
            if moment == .hook {
                options.hooks.destination = { _, _ in
                    entered.open()
                    for await _ in silence.stream {}
                    return nil
                }
            }
            let decided = HTTPSession.Destination.resolved { _, _ in
                entered.open()
                if moment == .decision { for await _ in silence.stream {} }
                return .folder(folder.path)
            }
            let task = try stage.session.downloadTask("x", options: options, to: decided)
            switch moment {
            case .waiting: break
            case .head:
                task.resume()
                _ = try await stage.server.waitForRequests(1)
            case .body:
                task.resume()
                try await stage.eventually("much has come") { task.downloaded.wireBytes > 500_000 }
                #expect(try folder.names().allSatisfy { $0.hasSuffix(".dunlin-part") })
            case .decision, .hook:
                task.resume()
                try await entered.opened()
            }
            try await play(stage, task)
            #expect(try folder.names().isEmpty)
            #expect(await stage.session.tasks.count == 0)
            try await stage.expectHealthy()
        }
    }

    @Test(arguments: Moment.allCases) func `a download cancelled by its handle leaves nothing behind`(moment: Moment)
        async throws
    {
        try await Self.stuck(moment) { (stage: Stage, task: Handle) async throws in
            task.cancel()
            #expect(try await NetworkError.thrown { _ = try await task.value }.code == .cancelled)
        }
    }

    @Test(arguments: Moment.allCases) func `a download that a shutdown ends leaves nothing behind`(
        moment: Moment
    ) async throws {
        try await Self.stuck(moment) { (stage: Stage, task: Handle) async throws in
            #expect(await stage.session.shutdown() == 1)
            #expect(try await NetworkError.thrown { _ = try await task.value }.code == .cancelled)
            // What is left is looked for through the same session.
            await stage.session.restart()
        }
    }

    @Test(arguments: Moment.allCases) func `a download whose awaiting task is cancelled leaves nothing behind`(
        moment: Moment
    ) async throws {
        try await Self.stuck(moment) { (stage: Stage, task: Handle) async throws in
            let waiting = Task { try await task.value }
            waiting.cancel()
            await #expect(throws: CancellationError.self) { try await waiting.value }
        }
    }

    @Test(arguments: [Moment.head, .body]) func `a download cancelled while it is suspended leaves nothing behind`(
        moment: Moment
    ) async throws {
        try await Self.stuck(moment) { (stage: Stage, task: Handle) async throws in
            task.suspend()
            task.cancel()
            #expect(try await NetworkError.thrown { _ = try await task.value }.code == .cancelled)
        }
    }

    @Test func `a download that times out leaves nothing behind`() async throws {
        let folder = try Folder()
        let clock = ManualClock()
        try await Stage.with(clock: clock, tolerating: true) {
            $0.timeouts.readIdle = .seconds(5)
        } _: { (stage: Stage) async throws in
            stage.server.enqueue(Self.long.stallingAfter(600_000))
            let task = try stage.session.downloadTask("x", to: .folder(folder.path))
            task.resume()
            try await stage.eventually("much has come") { task.downloaded.wireBytes > 500_000 }
            for _ in 0..<20 where task.resultIfEnded == nil { try await clock.advance(by: .seconds(6)) }
            let error = try await NetworkError.thrown { _ = try await task.value }
            #expect(error.code == .timedOut)
            #expect(error.phase == .receive)
            #expect(try folder.names().isEmpty)
        }
    }

    @Test func `a download that a hook cancels leaves nothing behind`() async throws {
        let folder = try Folder()
        try await Stage.with {
            $0.hooks.response = { _, _ in .cancel }
        } _: { (stage: Stage) async throws in
            stage.server.enqueue(Self.long)
            let error = try await NetworkError.thrown {
                _ = try await stage.session.download("x", to: .folder(folder.path))
            }
            #expect(error.code == .cancelled)
            #expect(try folder.names().isEmpty)
        }
    }

    struct BadPath: Sendable, CustomTestStringConvertible {
        var testDescription: String { path }
        var path: String
        var errno: Int32
    }

    static let badPaths: [BadPath] = [
        BadPath(path: "", errno: EISDIR), BadPath(path: "sub", errno: EISDIR), BadPath(path: "sub/", errno: EISDIR),
        BadPath(path: "sub/..", errno: EISDIR), BadPath(path: "missing/x", errno: ENOENT),
        BadPath(path: "file/x", errno: ENOTDIR), BadPath(path: "a\0b", errno: EINVAL),
        BadPath(path: String(repeating: "n", count: 256), errno: ENAMETOOLONG),
        BadPath(path: String(repeating: "sub/", count: 1025) + "x", errno: ENAMETOOLONG),
    ]

    @Test(arguments: badPaths) func `a download without a usable place fails with the reason`(
        badPath: BadPath
    ) async throws {
        let folder = try Folder()
        try folder.write("old", as: "file")
        try FileManager.default.createDirectory(atPath: "\(folder.path)/sub", withIntermediateDirectories: false)
        try await Stage.with { (stage: Stage) async throws in
            stage.server.respond { _ in Self.long }
            let error = try await NetworkError.thrown {
                _ = try await stage.session.download(
                    "x", to: .file("\(folder.path)/\(badPath.path)"), transfer: Options(overwrites: true))
            }
            #expect(error.code == .fileNotCreated)
            #expect(error.fileFailure?.errno == badPath.errno)
            #expect(error.foundationCode == .cannotCreateFile)
            #expect(try folder.names() == ["file", "sub"])
            try await stage.expectHealthy()
        }
    }

    /// Stops a download whose file is about to get its name.
    private static func beforeTheEnd(
        in folder: Folder, _ change: @escaping @Sendable (Stage) throws -> Void
    ) async throws -> NetworkError {
        let failure = Mutex<NetworkError?>(nil)
        try await Stage.with(tolerating: true) { (stage: Stage) async throws in
            let gate = LoopbackServer.Gate()
            stage.server.enqueue(
                .response(fields: ["Content-Length": "10"]).then(.send("01234"), .waitForSignal(gate), .send("56789")))
            let events = stage.session.events
            let task = try stage.session.downloadTask("x", to: .file("\(folder.path)/sub/x"))
            task.resume()
            try await stage.eventually("some has come") { task.downloaded.wireBytes == 5 }
            try await stage.eventually("the file is there") { try !folder.names("sub").isEmpty }
            try change(stage)
            gate.open()
            let error = try await NetworkError.thrown { _ = try await task.value }
            failure.withLock { $0 = error }
            var told: NetworkError.Code?
            for await event in events {
                if case .fileMoveFailed(_, let error) = event { told = error.code }
                if case .completed = event { break }
            }
            #expect(told == error.code)
            try await stage.expectHealthy()
        }
        return try #require(failure.withLock { $0 })
    }

    @Test(.rows("SM-63")) func `a download whose place was taken meanwhile says where its file is kept`() async throws {
        let folder = try Folder()
        try FileManager.default.createDirectory(atPath: "\(folder.path)/sub", withIntermediateDirectories: false)
        let error = try await Self.beforeTheEnd(in: folder) { _ in try folder.write("late", as: "sub/x") }
        #expect(error.code == .fileNotMoved)
        #expect(error.foundationCode == .cannotMoveFile)
        let failure = try #require(error.fileFailure)
        #expect(failure.errno == EEXIST)
        #expect(failure.path == "\(folder.path)/sub/x")
        let kept = try #require(failure.keptAt)
        #expect(try String(contentsOfFile: kept, encoding: .utf8) == "0123456789")
        #expect(try folder.contents("sub/x") == "late")
    }

    @Test(.rows("SM-63")) func `a download whose folder was removed says so, and that its file is gone`() async throws {
        let folder = try Folder()
        try FileManager.default.createDirectory(atPath: "\(folder.path)/sub", withIntermediateDirectories: false)
        let error = try await Self.beforeTheEnd(in: folder) { _ in
            try FileManager.default.removeItem(atPath: "\(folder.path)/sub")
        }
        #expect(error.code == .fileNotMoved)
        #expect(error.fileFailure?.errno == ENOENT)
        #expect(error.fileFailure?.keptAt == nil)
        #expect(try folder.names().isEmpty)
    }

    @Test(.enabled(if: Mount.isPossible, "takes root: a full disk is not tested"), arguments: [true, false])
    func `a download to a full disk leaves nothing behind`(isKnownBefore: Bool) async throws {
        let disk = try Mount(size: 1 << 20)
        try await Stage.with(tolerating: true) { (stage: Stage) async throws in
            stage.server.enqueue(.generated(length: 8 << 20))
            var options = Options()
            options.preallocates = isKnownBefore
            let error = try await NetworkError.thrown {
                _ = try await stage.session.download("x", to: .folder(disk.path), transfer: options)
            }
            #expect(error.code == (isKnownBefore ? .fileNotCreated : .fileNotWritten))
            #expect(error.fileFailure?.errno == ENOSPC)
            #expect(error.fileFailure?.meansNoSpace == true)
            #expect(try disk.names().isEmpty)
            try await stage.expectHealthy()
        }
    }

    @Test(.enabled(if: Mount.isPossible, "takes root: a read-only folder is not tested"))
    func `a download to a read-only folder fails with that reason`() async throws {
        let disk = try Mount(size: 1 << 20)
        try disk.makeReadOnly()
        try await Stage.with { (stage: Stage) async throws in
            stage.server.enqueue(.response(body: "x"))
            let error = try await NetworkError.thrown {
                _ = try await stage.session.download("x", to: .folder(disk.path))
            }
            #expect(error.code == .fileNotCreated)
            #expect(error.fileFailure?.errno == EROFS)
        }
    }
}

@Suite(.timeLimit(.minutes(10))) struct `A sweep` {
    @Test(.rows("SM-69")) func `a sweep removes parts that have neither a writer nor a record, and nothing else`()
        async throws
    {
        let folder = try Folder()
        for name in [".1.dunlin-part", ".2.dunlin-part", ".2.dunlin-record", "3.dunlin-part", ".part", "file"] {
            try folder.write("x", as: name)
        }
        try await Stage.with(tolerating: true) { (stage: Stage) async throws in
            stage.server.enqueue(LoopbackServer.Reply.response(body: "0123456789").stallingAfter(45))
            let task = try stage.session.downloadTask("x", to: .folder(folder.path))
            task.resume()
            try await stage.eventually("some has come") { task.downloaded.wireBytes > 0 }
            try await stage.eventually("its file is there") { try folder.names().count == 7 }
            #expect(try await HTTPSession.sweepParts(in: folder.path) == 0, "all are young")
            #expect(try await HTTPSession.sweepParts(in: folder.path, olderThan: .zero) == 1)
            #expect(try folder.names().count == 6)
            #expect(try !folder.names().contains(".1.dunlin-part"))
            task.cancel()
            _ = await task.result
        }
        await #expect(throws: HTTPSession.FileFailure.self) {
            try await HTTPSession.sweepParts(in: "\(folder.path)/none")
        }
    }

    @Test func `a sweep removes the draft of a record as soon as its process must be dead`() async throws {
        let folder = try Folder()
        let ages = [".1.dunlin-draft": 30, ".2.dunlin-draft": 90, ".3.dunlin-part": 90, ".4.dunlin-draft": 90]
        for (name, age) in ages {
            let path = try folder.write("x", as: name)
            let date = Date(timeIntervalSinceNow: -Double(age))
            try FileManager.default.setAttributes([.modificationDate: date], ofItemAtPath: path)
        }
        let inUse = try PartFile(opening: "\(folder.path)/.4.dunlin-draft")
        #expect(try await HTTPSession.sweepParts(in: folder.path) == 1)
        #expect(try folder.names() == [".1.dunlin-draft", ".3.dunlin-part", ".4.dunlin-draft"])
        inUse.unlock()
        #expect(try await HTTPSession.sweepParts(in: folder.path, olderThan: .zero) == 3)
        #expect(try folder.names().isEmpty)
    }
}
