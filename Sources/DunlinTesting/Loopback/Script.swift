internal import DunlinTypes
internal import Synchronization

extension LoopbackServer {
    /// The replies that a test has set. Routes come first, then the queue, then the closure, then 404.
    final class Script: Sendable {
        typealias Responder = @Sendable (RecordedRequest) -> Reply
        typealias ArrivalHandler = @Sendable (Int) -> Arrival

        private struct Route {
            /// The method; nil for any.
            let method: HTTP.Method?
            let target: String
            var replies: [Reply] = []
            var responder: Responder?

            func matches(_ head: RequestHead) -> Bool {
                guard method == nil || head.method == method else { return false }
                let asked = target.contains("?") ? head.target[...] : head.target.prefix { $0 != "?" }
                return asked == target
            }

            /// The next reply; the last one is repeated.
            mutating func next() -> Reply? {
                replies.count > 1 ? replies.removeFirst() : replies.first
            }
        }

        private struct State {
            var routes: [Route] = []
            var queue: [Reply] = []
            var responder: Responder?
            var arrivals: [Arrival] = []
            var handler: ArrivalHandler?
        }

        enum Choice {
            case reply(Reply)
            /// Call this when the request is complete.
            case ask(Responder)
        }

        private let state = Mutex(State())

        func enqueue(_ replies: [Reply]) { state.withLock { $0.queue += replies } }

        func route(_ method: HTTP.Method, _ target: String, _ replies: [Reply]) {
            state.withLock { $0.routes.append(Route(method: method, target: target, replies: replies)) }
        }

        func route(_ target: String, _ responder: @escaping Responder) {
            state.withLock { $0.routes.append(Route(method: nil, target: target, responder: responder)) }
        }

        func respond(_ responder: @escaping Responder) { state.withLock { $0.responder = responder } }

        func onConnect(_ arrivals: [Arrival]) { state.withLock { $0.arrivals += arrivals } }

        func onConnect(_ handler: @escaping ArrivalHandler) { state.withLock { $0.handler = handler } }

        /// Forgets everything, because closures may retain the server.
        func clear() {
            // Released outside the lock, because releasing a closure may call back here.
            _ = state.withLock { state in
                defer { state = State() }
                return state
            }
        }

        func choose(for head: RequestHead) -> Choice {
            state.withLock { state in
                if let index = state.routes.lastIndex(where: { $0.matches(head) }) {
                    if let responder = state.routes[index].responder { return .ask(responder) }
                    if let reply = state.routes[index].next() { return .reply(reply) }
                }
                if !state.queue.isEmpty { return .reply(state.queue.removeFirst()) }
                if let responder = state.responder { return .ask(responder) }
                return .reply(.response(.notFound))
            }
        }

        func arrival(of connection: Int) -> Arrival {
            let (queued, handler): (Arrival?, ArrivalHandler?) = state.withLock { state in
                state.arrivals.isEmpty ? (nil, state.handler) : (state.arrivals.removeFirst(), nil)
            }
            return queued ?? handler?(connection) ?? .accept
        }
    }
}
