import Dunlin
import DunlinTesting
import Folders
import Foundation
import Synchronization
import Testing

/// A session's handler may say another user while a download is under way, and a server may give both their files one
/// tag.
@Suite(.inClearAndOverTLS, .timeLimit(.minutes(10)))
struct `A download whose user changes on its way` {
    private static let length = 1 << 20
    private static let arrived = 300_000

    private static func entity(_ offset: Int) -> LoopbackServer.Entity {
        LoopbackServer.Entity(length: length, offset: offset, tag: #""one""#)
    }

    private static let (alices, bobs) = (entity(0), entity(1))

    /// Who the user is, and who is not any more.
    private final class World: Sendable {
        private let state = Mutex<(user: String, isAliceOut: Bool, forget: (@Sendable () -> Void)?)>(
            ("alice", false, nil))

        func handle(_ challenge: HTTPSession.AuthenticationChallenge) -> HTTPSession.AuthenticationChallenge.Answer {
            guard case .protectionSpace = challenge.kind else { return .performDefault }
            return .useCredential(.password(user: state.withLock(\.user), password: "pw"))
        }

        func whenChanging(_ forget: @escaping @Sendable () -> Void) { state.withLock { $0.forget = forget } }

        /// Bob takes alice's place, once.
        func change() {
            let forget = state.withLock { state in
                defer { state = ("bob", true, nil) }
                return state.forget
            }
            forget?()
        }

        /// Whose request it is; nil for nobody's, and for alice's once she is out.
        func user(of request: LoopbackServer.RecordedRequest) -> String? {
            guard let said = request.fields["authorization"], let data = Data(base64Encoded: String(said.dropFirst(6)))
            else { return nil }
            let user = String(decoding: data, as: UTF8.self) == "bob:pw" ? "bob" : "alice"
            return user == "alice" && state.withLock(\.isAliceOut) ? nil : user
        }
    }

    private static func play(
        clock: ManualClock? = nil, forgets: Bool,
        _ reply: @escaping @Sendable (String, LoopbackServer.RecordedRequest, World) -> LoopbackServer.Reply?,
        _ play: (Stage) async throws -> Void
    ) async throws {
        let world = World()
        try await Stage.with(
            clock: clock, tolerating: true,
            configure: {
                $0.basicInClearText = .allowed
                $0.authenticationHandler = { world.handle($0) }
            }
        ) { (stage: Stage) async throws in
            let session = stage.session
            if forgets { world.whenChanging { session.forgetPasswords() } }
            stage.server.respond { request in
                let challenge = LoopbackServer.Reply.response(401, fields: ["WWW-Authenticate": "Basic realm=r"])
                guard let user = world.user(of: request) else { return challenge }
                return reply(user, request, world) ?? challenge
            }
            try await play(stage)
        }
    }

    private static func file(_ folder: Folder) throws -> String {
        switch try folder.contents("file") {
        case alices.bytes: "alice"
        case bobs.bytes: "bob"
        default: "a mixture"
        }
    }

    /// Whose file comes while time passes.
    private static func download(_ stage: Stage, _ clock: ManualClock) async throws -> String {
        let folder = try Folder()
        let task = try stage.session.downloadTask("file", to: .file("\(folder.path)/file"))
        task.resume()
        try await clock.advance(by: .seconds(1), until: "the download is over") { task.resultIfEnded != nil }
        _ = try await task.value
        return try file(folder)
    }

    @Test(arguments: [true, false])
    func `an interrupted download continues with nothing of another user's`(forgets: Bool) async throws {
        let clock = ManualClock()
        try await Self.play(clock: clock, forgets: forgets) { user, request, world in
            if user == "bob" { return Self.bobs.reply(to: request) }
            if request.fields["range"] == nil { return Self.alices.reply(to: request, .short(after: Self.arrived)) }
            world.change()
            return nil
        } _: { (stage: Stage) async throws in
            #expect(try await Self.download(stage, clock) == "bob")
        }
    }

    /// Passwords are forgotten while the first answer is on its way: nobody knows whose it is.
    @Test func `a part received while the user changed is continued by nobody`() async throws {
        let clock = ManualClock()
        try await Self.play(clock: clock, forgets: true) { user, request, world in
            if user == "bob" { return Self.bobs.reply(to: request) }
            world.change()
            return Self.alices.reply(to: request, .short(after: Self.arrived))
        } _: { (stage: Stage) async throws in
            #expect(try await Self.download(stage, clock) == "bob")
        }
    }

    /// A signature is of one request, and says nothing of who the user is.
    @Test func `a download whose requests are signed one by one goes on, though a handler is there`() async throws {
        let (folder, file) = (try Folder(), ServedFile(Self.length))
        let number = Atomic(0)
        try await Stage.with(
            tolerating: true,
            configure: {
                $0.authenticationHandler = { _ in .performDefault }
                $0.interceptors = [
                    .exchange { request, next in
                        let count = number.add(1, ordering: .relaxed).newValue
                        return try await next(request) {
                            $0.head.fields["Authorization"] = "AWS4-HMAC-SHA256 Signature=\(count)"
                        }
                    }
                ]
            }
        ) { (stage: Stage) async throws in
            file.change { $0.faults = [.stall(after: Self.arrived)] }
            file.serve(on: stage)
            let task = try stage.session.downloadTask("file", to: .file("\(folder.path)/file"))
            task.resume()
            try await stage.eventually("much has come") { task.downloaded.wireBytes == Self.arrived }
            let data = try #require(await task.cancelProducingResumeData())
            file.change { $0.faults = [] }
            let response = try await stage.session.download(resumeData: data, to: .file("\(folder.path)/file"))
            #expect(response.value.resumedAt == Self.arrived)
            #expect(try folder.contents("file") == file.contents)
        }
    }

    /// The first body is held until segments were answered as another user's.
    @Test(arguments: [true, false], [true, false])
    func `segments bring nothing of another user's`(forgets: Bool, breaks: Bool) async throws {
        let folder = try Folder()
        let gate = LoopbackServer.Gate()
        try await Self.play(forgets: forgets) { user, request, world in
            if user == "bob" {
                let reply = Self.bobs.reply(to: request)
                return request.fields["range"] == nil ? reply : reply.after(.signal(gate))
            }
            if request.fields["range"] != nil {
                world.change()
                return nil
            }
            let start = Self.alices.reply(to: request, .stall(after: Self.arrived)).steps.dropLast()
            let rest = LoopbackServer.Step.generated(Self.arrived..<Self.length)
            return LoopbackServer.Reply(start + [.waitForSignal(gate)] + (breaks ? [.close] : [rest]))
        } _: { stage in
            var options = HTTPSession.DownloadOptions()
            options.segments = HTTPSession.Segments(3, minimumLength: 64 << 10)
            let task = try stage.session.downloadTask("file", to: .file("\(folder.path)/file"), transfer: options)
            #expect(try await task.value.byteCount == Self.length)
            #expect(try Self.file(folder) == (breaks ? "bob" : "alice"))
        }
    }
}
