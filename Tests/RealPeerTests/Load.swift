import Dunlin
import DunlinTesting
import Synchronization
import Testing

/// Requests, one after the other and many beside each other, until told to end.
final class Load: Sendable {
    private struct State {
        var succeeded = 0
        var failed = 0
        var hasEnded = false
        var surprises: [String] = []
    }

    private let session: HTTPSession
    private let options: HTTPSession.Options
    private let restarted: [NetworkError.Code]
    private let state = Mutex(State())

    /// `isProxied`: it is a proxy that restarts.
    init(_ session: HTTPSession, _ options: HTTPSession.Options, isProxied: Bool = false) {
        self.session = session
        self.options = options
        restarted = [.connectionClosed, .connectionFailed, .timedOut] + (isProxied ? [.proxyFailed] : [])
    }

    /// Errors that a restart does not explain.
    var surprises: [String] { state.withLock { $0.surprises } }

    func end() { state.withLock { $0.hasEnded = true } }

    func run(_ path: String) async throws {
        while !state.withLock({ $0.hasEnded }) {
            do {
                let response = try await session.get(HTTP.Target(path), options: options, as: .bytes)
                state.withLock { state in
                    state.succeeded += 1
                    if response.status != .ok { state.surprises.append("\(response.status)") }
                }
            } catch let error as NetworkError {
                let isExpected = restarted.contains(error.code) || error.isCutHandshake
                state.withLock { state in
                    state.failed += 1
                    if !isExpected { state.surprises.append("\(error)") }
                }
            }
        }
    }

    /// Returns when that many more requests have succeeded.
    func more(_ count: Int) async throws {
        let goal = state.withLock { $0.succeeded } + count
        try await eventually("\(count) more requests succeed") {
            state.withLock { $0.succeeded } >= goal
        }
    }

    /// Eight at once through three reloads and restarts of the server, and what must be so afterwards.
    func goThroughRestarts(
        of nginx: Nginx, asking paths: [String], beforeReload prepare: (_ round: Int) throws -> Void = { _ in }
    ) async throws {
        try await withThrowingTaskGroup(of: Void.self) { group in
            for index in 0..<8 { group.addTask { [self] in try await run(paths[index % paths.count]) } }
            for round in 0..<3 {
                try await more(100)
                try prepare(round)
                nginx.reload()
                try await more(100)
                nginx.stop()
                try nginx.start()
            }
            try await more(100)
            end()
            try await group.waitForAll()
        }
        #expect(surprises.isEmpty)
        for _ in 0..<20 { #expect(try await session.get("hello", as: .string).value == "hello") }
        #expect(session.connections.waiting == 0)
    }
}

extension NetworkError {
    /// The server went while it shook hands, as one that restarts may: nothing was sent, and TLS says what was missing.
    fileprivate var isCutHandshake: Bool {
        code == .secureConnectionFailed && [.tls, .proxyTLS].contains(phase) && !requestMayHaveBeenSent
            && reason.contains(" closed the connection")
    }
}
