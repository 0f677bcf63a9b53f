package import Dunlin
internal import Synchronization

/// An observer that records what it is told, and finds out whether each beginning has its one end.
package final class RecordingObserver: HTTPSession.Observer {
    /// A value of the task that makes a request.
    @TaskLocal package static var mark = ""

    /// What was told of one exchange.
    package struct Exchange: Sendable {
        package let begun: HTTPSession.Exchange
        package var heads: [ResponseHead] = []
        package var ends: [HTTPSession.ExchangeEnd] = []
    }

    /// What was told of one request.
    package struct Request: Sendable {
        package let begun: HTTPSession.TaskSnapshot
        package let mark: String
        package var exchanges: [Exchange] = []
        package var steps: [HTTPSession.RequestStep] = []
        package var ends: [HTTPSession.Completion] = []
        /// How many exchanges had not ended when the request had.
        package var unended = 0

        /// How the body of each exchange ended, or "none" without a response.
        package var bodies: [String] { exchanges.map { $0.ends.first?.body?.rawValue ?? "none" } }

        /// The names of the steps, without what they carry.
        package var stepNames: [String] { steps.map(\.name) }

        fileprivate var isBalanced: Bool {
            ends.count == 1 && unended == 0 && exchanges.allSatisfy { $0.ends.count == 1 && $0.heads.count <= 1 }
        }
    }

    private struct State {
        var requests: [Request] = []
        var connections: [HTTP.EndedConnection] = []
    }

    private let state = Mutex(State())
    private let adding: Fields

    /// Creates an observer that adds these fields to each exchange.
    package init(adding: Fields = Fields()) {
        self.adding = adding
    }

    package var requests: [Request] { state.withLock { $0.requests } }
    package var connections: [HTTP.EndedConnection] { state.withLock { $0.connections } }
    /// Whether everything that began has ended once, and exchanges before their requests.
    package var isBalanced: Bool { requests.allSatisfy(\.isBalanced) }

    package func began(_ request: HTTPSession.TaskSnapshot) -> (any HTTPSession.RequestObserver)? {
        state.withLock { state in
            state.requests.append(Request(begun: request, mark: Self.mark))
            return Part(whole: self, request: state.requests.count - 1, exchange: 0)
        }
    }

    package func connectionEnded(_ connection: HTTP.EndedConnection) {
        state.withLock { $0.connections.append(connection) }
    }

    private struct Part: HTTPSession.RequestObserver, HTTPSession.ExchangeObserver {
        let whole: RecordingObserver
        let request: Int
        let exchange: Int

        private func change(_ change: (inout Request) -> Void) {
            whole.state.withLock { change(&$0.requests[request]) }
        }

        func exchangeBegan(
            _ exchange: HTTPSession.Exchange, adding fields: inout Fields
        ) -> (any HTTPSession.ExchangeObserver)? {
            fields.append(contentsOf: whole.adding)
            var number = 0
            change { request in
                number = request.exchanges.count
                request.exchanges.append(Exchange(begun: exchange))
            }
            return Part(whole: whole, request: request, exchange: number)
        }

        func noted(_ step: HTTPSession.RequestStep) { change { $0.steps.append(step) } }

        func ended(_ completion: HTTPSession.Completion) {
            change { request in
                request.ends.append(completion)
                request.unended = request.exchanges.count { $0.ends.isEmpty }
            }
        }

        func answered(_ head: ResponseHead) { change { $0.exchanges[exchange].heads.append(head) } }

        func ended(_ end: HTTPSession.ExchangeEnd) { change { $0.exchanges[exchange].ends.append(end) } }
    }
}

extension HTTPSession.RequestStep {
    /// The name of the case.
    fileprivate var name: String {
        switch self {
        case .queued: "queued"
        case .admitted: "admitted"
        case .suspended: "suspended"
        case .resumed: "resumed"
        case .waitingForConnectivity: "waitingForConnectivity"
        case .retrying: "retrying"
        case .redirected: "redirected"
        case .sendingAgain: "sendingAgain"
        case .joined: "joined"
        case .servedFromCache: "servedFromCache"
        case .downloadResumed: "downloadResumed"
        }
    }
}
