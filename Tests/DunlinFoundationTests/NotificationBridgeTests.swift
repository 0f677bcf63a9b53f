import Dunlin
import DunlinFoundation
import DunlinTesting
import Folders
import Foundation
import LeakChecking
import LedgerRows
import Testing

@Suite(.leakChecked, .timeLimit(.minutes(10)))
struct `Notifications` {
    private typealias Name = NotificationBridge.Name
    private typealias Key = NotificationBridge.Key

    private let transport = MockTransport()
    private let notes = Notes()

    private func session(_ change: (inout HTTPSession.Configuration) -> Void = { _ in }) throws -> HTTPSession {
        var configuration = HTTPSession.Configuration(baseURL: "http://api.test", transport: transport)
        change(&configuration)
        configuration.useLoopOfTest()
        return try HTTPSession(configuration)
    }

    @Test(.rows("NO-1", "NO-2", "NO-3", "NO-8")) func `a notification's names and keys are AFNetworking's`() {
        let names = [
            (Name.taskDidResume, "com.alamofire.networking.task.resume"),
            (Name.taskDidSuspend, "com.alamofire.networking.task.suspend"),
            (Name.taskDidComplete, "com.alamofire.networking.task.complete"),
            (Name.sessionDidInvalidate, "com.alamofire.networking.session.invalidate"),
            (Name.downloadDidMoveFile, "com.alamofire.networking.session.download.file-manager-succeed"),
            (Name.downloadDidFailToMoveFile, "com.alamofire.networking.session.download.file-manager-error"),
        ]
        for (ours, theirs) in names { #expect(ours.rawValue == theirs) }
        let keys = [
            (Key.serializedResponse, "com.alamofire.networking.task.complete.serializedresponse"),
            (Key.responseSerializer, "com.alamofire.networking.task.complete.responseserializer"),
            (Key.responseData, "com.alamofire.networking.complete.finish.responsedata"),
            (Key.assetPath, "com.alamofire.networking.task.complete.assetpath"),
            (Key.error, "com.alamofire.networking.task.complete.error"),
            (Key.metrics, "com.alamofire.networking.complete.sessiontaskmetrics"),
        ]
        for (ours, theirs) in keys { #expect(ours == theirs) }
    }

    @Test(.rows("G-3", "SM-53", "SM-100", "SM-101", "OP-13", "NO-1", "NO-2", "NO-8", "NO-9", "NO-10"))
    func `resuming, suspending and completing a task are notified in that order`() async throws {
        let session = try session()
        let bridge = NotificationBridge(session, center: notes.center)
        let gate = LoopbackServer.Gate()
        transport.on(.get, "/").reply(
            .stream { index in
                if index > 0 { return nil }
                try await gate.opened()
                return "made"
            })
        let task = try session.task("/", as: .string)
        let object = bridge.object(for: task.id)
        #expect(object.id == task.id && object.snapshot == nil)
        task.resume()
        task.resume()
        task.suspend()
        task.suspend()
        task.resume()
        gate.open()
        #expect(try await task.value == "made")
        let told = await notes.next(4)
        #expect(
            told.map(\.name) == [Name.taskDidResume, Name.taskDidSuspend, Name.taskDidResume, Name.taskDidComplete])
        #expect(told.allSatisfy { $0.task === object && !$0.isOnMainThread })
        #expect(told.dropLast().allSatisfy { $0.keys.isEmpty })
        let end = try #require(told.last)
        #expect(end.keys == [Key.serializedResponse, Key.responseSerializer, Key.responseData, Key.metrics])
        #expect(end.value == "made" && end.body == Data("made".utf8))
        #expect(object.snapshot?.state == .over)
        await session.shutdown()
    }

    @Test(.rows("NO-5", "NO-6", "NO-12", "VD-17"))
    func `a downloaded file is notified, and so is one that cannot be moved`() async throws {
        let folder = try Folder()
        let session = try session()
        let bridge = NotificationBridge(session, center: notes.center)
        let path = "\(folder.path)/file"
        transport.on(.get, "/").reply(
            .stream { index in
                if index == 1 { try Data("late".utf8).write(to: URL(filePath: path)) }
                return index < 2 ? "made" : nil
            }
        ).reply(
            .stream { index in
                if index == 1 { try Data("late".utf8).write(to: URL(filePath: path)) }
                return index < 2 ? "made" : nil
            })
        let overwriting = HTTPSession.DownloadOptions(overwrites: true)
        _ = try await session.download("/", to: .file(path), transfer: overwriting)
        let told = await notes.next(3)
        #expect(told.map(\.name) == [Name.taskDidResume, Name.downloadDidMoveFile, Name.taskDidComplete])
        #expect(told[1].keys.isEmpty && told[1].task?.id == told[2].task?.id)
        #expect(told[2].keys == [Key.assetPath, Key.serializedResponse, Key.metrics])
        #expect(told[2].file?.path == path)
        try FileManager.default.removeItem(atPath: path)
        await #expect(throws: NetworkError.self) { try await session.download("/", to: .file(path)) }
        let failed = await notes.next(3)
        #expect(failed.map(\.name) == [Name.taskDidResume, Name.downloadDidFailToMoveFile, Name.taskDidComplete])
        #expect(failed[1].reason == "the file cannot be moved to its destination")
        #expect(failed[2].error?.code == -3005)
        withExtendedLifetime(bridge) {}
        await session.shutdown()
    }

    @Test(.rows("SM-48", "NO-3")) func `a completion is notified after the task has its result`() async throws {
        let session = try session()
        let bridge = NotificationBridge(session, center: notes.center)
        transport.on(.get, "/").respond(body: "x")
        let task = try session.task("/", as: .string)
        let (ends, writer) = AsyncStream<Bool>.makeStream()
        let token = notes.center.addObserver(forName: Name.taskDidComplete, object: nil, queue: nil) { _ in
            writer.yield(task.resultIfEnded != nil)
            writer.finish()
        }
        task.resume()
        #expect(await ends.reduce(into: []) { $0.append($1) } == [true])
        notes.center.removeObserver(token)
        withExtendedLifetime(bridge) {}
        await session.shutdown()
    }

    @Test(.rows("NO-11")) func `the notification of a failure has an NSError with the request's URL`() async throws {
        let session = try session()
        let bridge = NotificationBridge(session, center: notes.center)
        transport.on(.get, "/missing").respond(.notFound, body: "gone")
        transport.on(.get, "/lost").fail(.connectionReset)
        for (path, code) in [("missing", -1011), ("lost", -1005)] {
            await #expect(throws: NetworkError.self) { try await session.get("\(path)", as: .string) }
            let error = try #require(await notes.next(2).last?.error)
            #expect(error.code == code)
            #expect(error.userInfo["NSErrorFailingURLKey"] as? URL == URL(string: "http://api.test/\(path)"))
        }
        withExtendedLifetime(bridge) {}
        await session.shutdown()
    }

    @Test(.rows("SM-54", "OP-5")) func `the notification of a cancelled task has the cancelled code, begun or not`()
        async throws
    {
        let session = try session()
        let bridge = NotificationBridge(session, center: notes.center)
        transport.on(.get, "/").never()
        let early = try session.task("/", as: .bytes)
        early.cancel()
        _ = await early.result
        let late = Task { try await session.get("/", as: .bytes) }
        try await transport.waitForRequests()
        late.cancel()
        _ = await late.result
        let told = await notes.next(3)
        #expect(told.map(\.name) == [Name.taskDidComplete, Name.taskDidResume, Name.taskDidComplete])
        for end in [told.first, told.last].compactMap(\.self) {
            #expect(end.error?.domain == NSURLErrorDomain && end.error?.code == NSURLErrorCancelled)
            #expect(end.error?.userInfo["NSErrorFailingURLStringKey"] as? String == "http://api.test/")
        }
        withExtendedLifetime(bridge) {}
        await session.shutdown()
    }

    @Test func `the notification of a cancelled task shows no secret of its URL`() async throws {
        let session = try session { $0.secretFields = ["ticket"] }
        let bridge = NotificationBridge(session, center: notes.center)
        let task = try session.task("/x?token=hunter2&ticket=hunter2&page=2", as: .bytes)
        task.cancel()
        _ = await task.result
        let error = try #require(await notes.next(1).first?.error)
        #expect(error.code == NSURLErrorCancelled)
        let shown = "http://api.test/x?token=***&ticket=***&page=2"
        #expect(error.userInfo["NSErrorFailingURLStringKey"] as? String == shown)
        #expect(error.userInfo["NSErrorFailingURLKey"] as? URL == URL(string: shown))
        #expect(!"\(error) \(error.userInfo)".contains("hunter2"))
        withExtendedLifetime(bridge) {}
        await session.shutdown()
    }

    @Test(.rows("SM-101")) func `an observer of one task's object gets that task's notifications and no others`()
        async throws
    {
        let session = try session()
        let bridge = NotificationBridge(session, center: notes.center)
        transport.on(.get, "/").respond(body: "x").always()
        let (one, other) = (try session.task("/", as: .bytes), try session.task("/", as: .bytes))
        let object = bridge.object(for: one.id)
        let chosen = Notes(at: notes.center, about: object)
        _ = await (other.result, one.result)
        #expect(await notes.next(4).count { $0.task?.id == one.id } == 2)
        // One notification is told to one observer after the other.
        var own = await chosen.next(2)
        own += await chosen.rest()
        #expect(own.map(\.task?.id) == [one.id, one.id])
        await session.shutdown()
    }

    @Test(.rows("SM-14", "NO-4"))
    func `the last notification is the session's invalidation, whose object is the session`() async throws {
        let session = try session()
        let bridge = NotificationBridge(session, center: notes.center)
        transport.on(.get, "/").never()
        let task = Task { try await session.get("/", as: .bytes) }
        try await transport.waitForRequests()
        await session.restart()
        _ = await task.result
        let told = await notes.next(3)
        #expect(told.map(\.name) == [Name.taskDidResume, Name.taskDidComplete, Name.sessionDidInvalidate])
        #expect(told.last?.session == ObjectIdentifier(session) && told.last?.keys == [])
        // The session lives again; a bridge of before tells nothing of that, one of now does.
        let later = Notes()
        let another = NotificationBridge(session, center: later.center)
        transport.on(.get, "/again").respond(body: "x")
        _ = try await session.get("/again", as: .bytes)
        #expect(await later.next(2).map(\.name) == [Name.taskDidResume, Name.taskDidComplete])
        #expect(await notes.rest().isEmpty)
        withExtendedLifetime((bridge, another)) {}
        await session.shutdown()
    }

    @Test func `notifications end when their bridge is released`() async throws {
        let session = try session()
        transport.on(.get, "/").respond(body: "x").always()
        var bridge: NotificationBridge? = NotificationBridge(session, center: notes.center)
        _ = try await session.get("/", as: .bytes)
        #expect(await notes.next(2).count == 2)
        withExtendedLifetime(bridge) {}
        bridge = nil
        let others = Notes()
        let other = NotificationBridge(session, center: others.center)
        _ = try await session.get("/", as: .bytes)
        #expect(await others.next(2).count == 2)
        #expect(await notes.rest().isEmpty)
        withExtendedLifetime(other) {}
        await session.shutdown()
    }

    @Test(.rows("SM-13")) func `a bridge does not keep its session alive`() async throws {
        weak var gone: HTTPSession?
        let bridge: NotificationBridge
        do {
            let session = try session()
            gone = session
            bridge = NotificationBridge(session, center: notes.center)
            transport.on(.get, "/").respond(body: "x")
            _ = try await session.get("/", as: .bytes)
        }
        #expect(await notes.next(2).count == 2)
        #expect(gone == nil)
        withExtendedLifetime(bridge) {}
    }

    @Test(.rows("NO-9", "NO-10")) func `the notification of a stream's end has neither a body nor a serializer`()
        async throws
    {
        let session = try session()
        let bridge = NotificationBridge(session, center: notes.center)
        transport.on(.get, "/").stream(["a", "b"])
        try await session.withResponse(from: "/") { for try await _ in $0.body {} }
        let told = await notes.next(2)
        #expect(told.map(\.name) == [Name.taskDidResume, Name.taskDidComplete])
        let end = try #require(told.last)
        #expect(
            end.keys.isDisjoint(with: [Key.responseData, Key.responseSerializer, Key.serializedResponse, Key.error]))
        withExtendedLifetime(bridge) {}
        await session.shutdown()
    }

    @Test(.rows("SM-90", "NO-13", "AP-16", "LX-9", "VD-17"))
    func `the notification of a completion has metrics if a connection was used`() async throws {
        let server = try LoopbackServer()
        defer { server.stop() }
        server.respond { _ in .response(body: "x") }
        var configuration = HTTPSession.Configuration(baseURL: server.baseURL)
        configuration.useLoopOfTest()
        let session = try HTTPSession(configuration)
        let bridge = NotificationBridge(session, center: notes.center)
        _ = try await session.get("/", as: .bytes)
        #expect(await notes.next(2).last?.keys.contains(Key.metrics) == true)
        withExtendedLifetime(bridge) {}
        await session.shutdown()
    }

    @Test(.rows("NO-15")) func `concurrent requests are each notified of start and end in order, and none is lost`()
        async throws
    {
        let session = try session()
        let bridge = NotificationBridge(session, center: notes.center)
        transport.on(.get, "/").respond(body: "x").always()
        try await withThrowingTaskGroup(of: HTTPSession.TaskID.self) { group in
            for _ in 0..<200 {
                group.addTask {
                    let task = try session.task("/", as: .bytes)
                    _ = try await task.value
                    return task.id
                }
            }
            try await group.waitForAll()
        }
        var isRunning: [HTTPSession.TaskID: Bool] = [:]
        for note in await notes.next(400) {
            let id = try #require(note.task?.id)
            #expect(isRunning[id] == (note.name == Name.taskDidComplete ? true : nil))
            isRunning[id] = note.name == Name.taskDidResume
        }
        #expect(isRunning.count == 200 && !isRunning.values.contains(true))
        withExtendedLifetime(bridge) {}
        await session.shutdown()
    }
}
