import Dunlin
import DunlinTesting
import Folders
import Foundation
import Synchronization

/// Something that programs do with a session. What can be seen of it is kept in a file, and stays so.
struct Scenario: Sendable, CustomStringConvertible {
    /// Names the file, too.
    let name: String
    var server = LoopbackServer.Configuration()
    /// Whether there is TLS between the two.
    var isSecure = false
    /// Whether time stands still but where the play moves it.
    var hasManualClock = false
    /// Phases that take time or none by chance.
    var chancy: Set<HTTP.Phase> = []
    /// Whether an error surely knows how its attempt spent its time.
    var hasAttempts = true
    /// Whether the server surely reads what was sent.
    var hasWire = true
    /// What stands between the two, if something does.
    var proxy: Proxy?
    var configure: @Sendable (inout HTTPSession.Configuration) -> Void = { _ in }
    let play: @Sendable (Scene) async throws -> Void

    init(
        _ name: String, server: LoopbackServer.Configuration = .init(), isSecure: Bool = false,
        hasManualClock: Bool = false, chancy: Set<HTTP.Phase> = [], hasAttempts: Bool = true, hasWire: Bool = true,
        proxy: Proxy? = nil,
        configure: @escaping @Sendable (inout HTTPSession.Configuration) -> Void = { _ in },
        _ play: @escaping @Sendable (Scene) async throws -> Void
    ) {
        self.name = name
        self.server = server
        self.isSecure = isSecure
        self.hasManualClock = hasManualClock
        self.chancy = chancy
        self.hasAttempts = hasAttempts
        self.hasWire = hasWire
        self.proxy = proxy
        self.configure = configure
        self.play = play
    }

    var description: String { name }

    static let all = [
        verbs, redirects, retries, cancellations, uploads, streams, downloads, crowds, endings, cookies, longStreams,
        stoppedUploads, files, handles, lines, openings, interventions, mocks, secure, logins, tokens, caching,
        cachedTogether, proxies, interceptors, interceptorEnds, journals, segments, combinations,
    ].flatMap(\.self)
}

/// Who looks on. What goes over the wire, and what comes of it, must not depend on that.
enum Company: String, CaseIterable, Sendable {
    case alone
    /// A listener to the session's events, and every hook there is.
    case watched
}

/// Where a scenario plays.
struct Scene: Sendable {
    let stage: Stage
    let transcript: Transcript
    /// Moves the session only in a scenario that says so.
    let clock: ManualClock
    let folder: Folder
    /// Nil but in a scenario that has one.
    let proxy: LoopbackProxy?

    var server: LoopbackServer { stage.server }
    var session: HTTPSession { stage.session }

    /// Makes a request and notes what becomes of it.
    func note<Value>(_ label: String, _ work: () async throws -> Value) async {
        await transcript.note(label, work)
    }

    /// Asks for a target and notes what becomes of it.
    func noteGet(_ label: String, _ target: HTTP.Target = "a", _ options: HTTPSession.Options = .init()) async {
        await note(label) { try await session.get(target, options: options, as: .string) }
    }

    /// Notes what the registry tells of the session's requests.
    func noteTasks(_ label: String) async {
        let tasks = await session.tasks.all.sorted { $0.id.rawValue < $1.id.rawValue }.map {
            "\n    \(transcript.text($0)), \($0.phase?.rawValue ?? "no phase")"
        }
        transcript.note("\(label): \(tasks.count) tasks\(tasks.joined())")
    }

    /// Does `work` while the clock skips what is waited for.
    func skippingWaits<Value: Sendable>(_ work: @Sendable () async throws -> Value) async throws -> Value {
        try await clock.skippingWaits(work)
    }

    /// Does `work` while time passes.
    func movingOn<Value: Sendable>(_ work: @escaping @Sendable () async throws -> Value) async throws -> Value {
        try await clock.movingOn(work)
    }

    /// Cancels the present moment's request once it is where it should be.
    func whenStuck(
        in predicament: Predicament, _ request: @escaping @Sendable () async throws -> Void,
        _ act: (Task<Void, Never>) async throws -> Void
    ) async throws {
        predicament.prepare(stage)
        let occupant = try await predicament.occupy(stage)
        let running = Task { await note("request", request) }
        try await predicament.waitUntilStuck(stage)
        if predicament == .resolve || predicament == .connect {
            try await stage.eventually("the registry knows where it hangs") {
                await session.tasks.all.contains { $0.phase == predicament.phase }
            }
        }
        try await act(running)
        await running.value
        occupant?.cancel()
        _ = await occupant?.result
    }
}

extension ManualClock {
    /// Does `work` while time passes.
    func movingOn<Value: Sendable>(_ work: @escaping @Sendable () async throws -> Value) async throws -> Value {
        let running = Task { try await work() }
        let isOver = Atomic<Bool>(false)
        async let end: Void = {
            _ = await running.result
            isOver.store(true, ordering: .relaxed)
        }()
        try await advance(by: .milliseconds(100), until: "it is over") {
            isOver.load(ordering: .relaxed)
        }
        await end
        return try await running.value
    }
}
