import Dunlin
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
    private let state = Mutex(State())

    init(_ session: HTTPSession, _ options: HTTPSession.Options) {
        self.session = session
        self.options = options
    }

    /// Errors that a restart does not explain.
    var surprises: [String] { state.withLock { $0.surprises } }

    func end() { state.withLock { $0.hasEnded = true } }

    func run(_ path: String) async throws {
        while !state.withLock({ $0.hasEnded }) {
            do {
                let response = try await session.get(HTTPSession.Target(path), options: options, as: .bytes)
                state.withLock { state in
                    state.succeeded += 1
                    if response.status != .ok { state.surprises.append("\(response.status)") }
                }
            } catch let error as NetworkError {
                // A server that goes while it shakes hands has not been heard of: that is told as TLS's failure.
                let isCutHandshake =
                    error.code == .secureConnectionFailed && error.reason.contains("closed the connection")
                let isExpected =
                    [.connectionClosed, .connectionFailed, .timedOut].contains(error.code) || isCutHandshake
                state.withLock { state in
                    state.failed += 1
                    if !isExpected { state.surprises.append("\(error)") }
                }
            }
        }
    }

    /// Returns when that many more requests have succeeded.
    func more(_ count: Int) async throws {
        let (goal, start) = (state.withLock { $0.succeeded } + count, ContinuousClock.now)
        while state.withLock({ $0.succeeded }) < goal {
            try #require(ContinuousClock.now - start < .seconds(30), "requests no longer succeed")
            await Task.yield()
        }
    }
}
