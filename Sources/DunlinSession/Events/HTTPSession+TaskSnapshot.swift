extension HTTPSession {
    /// The purpose of a request.
    public enum TaskKind: String, Sendable, Hashable, CaseIterable {
        /// The response is read as a whole.
        case data
        /// Like `data`, but the request's body is a file or a stream.
        case upload
        case download
        /// The response is read as it comes.
        case stream
        /// The connection is used for another protocol, if the server agrees.
        case upgrade
        /// A connection is opened ahead of need.
        case preconnect
    }
}

extension HTTPSession {
    /// The state of a request at one time, as in the registry.
    public struct TaskSnapshot: Sendable, Hashable {
        public enum State: Sendable, Hashable {
            /// The request has begun but was not sent yet.
            case waiting
            /// The request is under way; `hop` counts how often it was sent.
            case running(hop: Int)
            /// The request failed after this many hops and waits for its next attempt.
            case waitingToRetry(hop: Int)
            /// The request was suspended by `suspend()`, or its handle has not been resumed yet.
            case suspended
            case over
        }

        public var id: HTTPSession.TaskID
        public var kind: HTTPSession.TaskKind
        public var method: HTTP.Method
        /// The target as the program wrote it, without values.
        public var targetTemplate: String
        public var label: String?
        public var tags: Set<String>
        public var priority: HTTP.Priority
        public var state: State
        /// The current phase; nil unless the request runs or waits for its turn in a queue, which is `pool`. While the
        /// answer is awaited, which is most of the time, it is `firstByte`.
        public var phase: HTTP.Phase?
        /// How long ago the request was made.
        public var age: Duration
        /// Whether the program contains `targetTemplate`, as a literal or with placeholders for values. Otherwise it is
        /// all of a target made from text or a `URL`, and may differ with every request.
        public var hasTemplate = false
        /// Whether the session asks for itself, without a caller, whether a stored response is still valid.
        public var isRevalidation = false
        var record = Record()

        /// What is needed to write the request as a command. The ID says which request it is.
        struct Record: Sendable, Hashable {
            var record: RequestRecord?

            static func == (left: Record, right: Record) -> Bool { true }
            func hash(into hasher: inout Hasher) {}
        }
    }
}

extension HTTPSession.TaskKind {
    static func of(_ body: borrowing RequestBody) -> Self {
        body.isAtHand ? .data : .upload
    }
}
