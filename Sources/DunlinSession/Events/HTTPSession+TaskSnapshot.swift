extension HTTPSession {
    /// What a request is for.
    public enum TaskKind: String, Sendable, Hashable, CaseIterable {
        /// The response is read as a whole.
        case data
        /// As `data`, but what is sent is a file or a stream.
        case upload
        case download
        /// The response is read as it comes.
        case stream
        /// A connection is opened ahead of need.
        case preconnect
    }
}

extension HTTPSession {
    /// What the registry tells of a request.
    public struct TaskSnapshot: Sendable, Hashable {
        public enum State: Sendable, Hashable {
            /// It may begin, and has not been sent yet.
            case waiting
            /// On its way; `hop` counts the times it was sent.
            case running(hop: Int)
            /// It failed after so many hops, and waits to be tried again.
            case waitingToRetry(hop: Int)
            /// Held back by `suspend()`, or not let go yet.
            case suspended
            case over
        }

        public var id: HTTPSession.TaskID
        public var kind: HTTPSession.TaskKind
        public var method: HTTP.Method
        public var targetTemplate: String
        public var label: String?
        public var tags: Set<String>
        public var priority: HTTP.Priority
        public var state: State
        /// What the request is about just now; nil unless it runs, or waits for its turn in a queue, which is `pool`.
        /// Of one that is being sent at once and waits for its answer, as most do, it is `firstByte`.
        public var phase: HTTP.Phase?
        /// How long ago the request was made.
        public var age: Duration
    }
}

extension HTTPSession.TaskKind {
    @inline(__always)
    static func of(_ body: borrowing RequestBody) -> Self {
        body.isAtHand ? .data : .upload
    }
}
