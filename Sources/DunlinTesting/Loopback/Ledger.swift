internal import Synchronization

extension LoopbackServer {
    /// Everything that the server has seen, written by its threads and read by tests.
    final class Ledger: Sendable {
        private struct State {
            var activity = Activity()
            var requests: [RecordedRequest] = []
            var taken = 0
            var failures: [Failure] = []
            var handshakes: [Handshake] = []
        }

        private let state = Mutex(State())
        private let recordsRequests: Bool
        let broadcast = Broadcast()

        init(recordsRequests: Bool) {
            self.recordsRequests = recordsRequests
        }

        var activity: Activity { state.withLock { $0.activity } }
        var requests: [RecordedRequest] { state.withLock { $0.requests } }
        var handshakes: [Handshake] { state.withLock { $0.handshakes } }
        var failures: [Failure] { state.withLock { $0.failures } }

        /// Takes the oldest request that was not taken yet.
        func takeRequest() -> RecordedRequest? {
            state.withLock { state in
                guard state.taken < state.requests.count else { return nil }
                defer { state.taken += 1 }
                return state.requests[state.taken]
            }
        }

        /// Counts a new connection. Returns its index.
        func accepted() -> Int {
            change { state in
                state.activity.accepted += 1
                state.activity.open += 1
                return state.activity.accepted - 1
            }
        }

        func closed() { change { $0.activity.open -= 1 } }

        func sent(_ count: Int) { change { $0.activity.bytesSent += count } }

        func sendBlocked() { change { $0.activity.blockedSends += 1 } }

        func secured(_ handshake: Handshake) {
            change { state in
                state.activity.handshakes += 1
                if handshake.wasResumed { state.activity.resumptions += 1 }
                if recordsRequests { state.handshakes.append(handshake) }
            }
        }

        func receivedCloseNotify() { change { $0.activity.goodbyes += 1 } }

        func failed(_ failure: Failure) {
            change { state in
                state.failures.append(failure)
                state.activity.failures += 1
            }
        }

        /// Records a request. Returns where `update` finds it again; nil if requests are only counted.
        func record(_ request: RecordedRequest) -> Int? {
            change { state in
                state.activity.requests += 1
                guard recordsRequests else { return nil }
                state.requests.append(request)
                return state.requests.count - 1
            }
        }

        func update(_ position: Int?, _ request: RecordedRequest) {
            guard let position else { return }
            change { $0.requests[position] = request }
        }

        private func change<Result: Sendable>(_ body: (inout sending State) -> sending Result) -> Result {
            let result = state.withLock { body(&$0) }
            broadcast.announce()
            return result
        }
    }
}
