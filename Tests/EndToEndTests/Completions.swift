import Dunlin
import Synchronization

/// What a session's hook is told of the end of each request.
final class Completions: Sendable {
    private let all = Mutex<[HTTPSession.Completion]>([])

    func add(_ completion: HTTPSession.Completion) { all.withLock { $0.append(completion) } }

    func only(_ stage: Stage) async throws -> HTTPSession.Completion {
        try await stage.eventually("the hook is told") { all.withLock { $0.count == 1 } }
        return all.withLock { $0[0] }
    }
}
