extension HTTPSession {
    /// What a request is for.
    public enum TaskKind: String, Sendable, Hashable, CaseIterable {
        /// The response is read as a whole.
        case data
        /// As `data`, but the body that is sent is a file or a stream.
        case upload
        case download
        /// The response is read as it comes.
        case stream
        /// A connection is opened ahead of need.
        case preconnect
    }
}

extension HTTPSession {
    /// The state of a request at one time, as the registry shows it.
    public struct TaskSnapshot: Sendable, Hashable {
        public enum State: Sendable, Hashable {
            /// It has been begun, and not been sent yet.
            case waiting
            /// It is on its way; `hop` counts how often it was sent.
            case running(hop: Int)
            /// It failed after so many hops, and waits for its next attempt.
            case waitingToRetry(hop: Int)
            /// It was suspended by `suspend()`, or its handle has not been resumed yet.
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
        /// The phase the request is in; nil unless it runs or waits for its turn in a queue, which is `pool`. While the
        /// answer to a request is awaited, as it is most of the time, the phase is `firstByte`.
        public var phase: HTTP.Phase?
        /// How long ago the request was made.
        public var age: Duration
        var record = Record()

        /// What it takes to say the request as a command; the id says which request it is.
        struct Record: Sendable, Hashable {
            var record: RequestRecord?

            static func == (left: Record, right: Record) -> Bool { true }
            func hash(into hasher: inout Hasher) {}
        }
    }
}

extension HTTPSession.TaskKind {
    @inline(__always)
    static func of(_ body: borrowing RequestBody) -> Self {
        body.isAtHand ? .data : .upload
    }
}
