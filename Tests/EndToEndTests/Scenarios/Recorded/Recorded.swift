import Dunlin
import DunlinTesting

/// A play over a transport without a network, or over a loopback server. All that it shows is held still in its group's
/// file.
struct Recorded: Sendable {
    /// A sentence, by which the file knows the play.
    let name: String
    var isOnLoopback = false
    var proxy: Scenario.Proxy?
    let configure: @Sendable (inout HTTPSession.Configuration, Take) -> Void
    let play: @Sendable (Take, HTTPSession) async throws -> Void

    @_disfavoredOverload init(
        _ name: String, isOnLoopback: Bool = false, proxy: Scenario.Proxy? = nil,
        _ configure: @escaping @Sendable (inout HTTPSession.Configuration, Take) -> Void = { _, _ in },
        play: @escaping @Sendable (Take, HTTPSession) async throws -> Void
    ) {
        (self.name, self.isOnLoopback, self.proxy) = (name, isOnLoopback, proxy)
        (self.configure, self.play) = (configure, play)
    }

    /// A play in which a transport gives these answers in order, to what `ask` asks for.
    init(
        _ name: String, _ answers: MockTransport.Outcome...,
        with configure: @escaping @Sendable (inout HTTPSession.Configuration) -> Void,
        ask: @escaping @Sendable (Take, HTTPSession) async throws -> Void
    ) {
        self.init(name, { configuration, _ in configure(&configuration) }) { take, session in
            take.serve(answers)
            try await ask(take, session)
        }
    }

    init(
        _ name: String, _ answers: MockTransport.Outcome...,
        ask: @escaping @Sendable (Take, HTTPSession) async throws -> Void
    ) {
        self.init(
            name,
            play: { take, session in
                take.serve(answers)
                try await ask(take, session)
            })
    }

    /// The same, for a GET of `/a`.
    init(
        _ name: String, _ answers: MockTransport.Outcome...,
        with configure: @escaping @Sendable (inout HTTPSession.Configuration) -> Void = { _ in }
    ) {
        self.init(name, { configuration, _ in configure(&configuration) }) { take, session in
            take.serve(answers)
            await take.get("get", session)
        }
    }
}

/// Plays about one subject, whose records are in one file.
struct RecordedGroup: Sendable, CustomStringConvertible {
    let name: String
    let plays: [Recorded]

    var description: String { name }

    static let all = [
        RecordedGroup(name: "exchange", plays: Recorded.exchanges),
        RecordedGroup(name: "retry", plays: Recorded.retries),
        RecordedGroup(name: "redirect", plays: Recorded.redirects),
        RecordedGroup(name: "cookies", plays: Recorded.jars),
        RecordedGroup(name: "cache", plays: Recorded.stored),
        RecordedGroup(name: "coalescing", plays: Recorded.shared),
        RecordedGroup(name: "password", plays: Recorded.passwords),
        RecordedGroup(name: "authenticator", plays: Recorded.refreshed),
        RecordedGroup(name: "secrets", plays: Recorded.hidden),
        RecordedGroup(name: "interceptors", plays: Recorded.intercepted),
        RecordedGroup(name: "hooks", plays: Recorded.hooked),
        RecordedGroup(name: "events", plays: Recorded.eventStreams),
        RecordedGroup(name: "files", plays: Recorded.bodiesAndFiles),
        RecordedGroup(name: "pictures", plays: Recorded.pictures),
        RecordedGroup(name: "combinations", plays: Recorded.combined),
        RecordedGroup(name: "loopback", plays: Recorded.onLoopback),
    ]
}
