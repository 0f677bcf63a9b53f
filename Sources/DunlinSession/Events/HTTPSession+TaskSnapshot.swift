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
        /// What the API's description calls the request (`Options.operation`).
        public var operation: String?
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
        /// The path of the session's base URL, with a final slash.
        var basePath = "/"
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

extension HTTPSession.TaskSnapshot {
    /// The path of the template, with that of the base URL before it (OpenTelemetry's `url.template`), without scheme,
    /// host, query and fragment: `/v1/users/{id}`. Nil if the program contains no template of the target.
    public var pathTemplate: String? { pathTemplate(below: basePath) }

    /// The same with another path before a template that has no slash at its beginning.
    package func pathTemplate(below base: String) -> String? {
        guard hasTemplate else { return nil }
        // Bytes are compared, since a mark joins the character before it.
        let slash = UInt8(ascii: "/")
        let path = targetTemplate.utf8.prefix { $0 != UInt8(ascii: "?") && $0 != UInt8(ascii: "#") }
        if let first = path.firstIndex(of: slash), path[first...].starts(with: "//".utf8),
            first == path.startIndex || path[..<first].last == UInt8(ascii: ":")
        {
            let rest = path[first...].dropFirst(2).drop { $0 != slash }
            return rest.isEmpty ? "/" : String(Substring(rest))
        }
        return (path.first == slash ? "" : base) + String(Substring(path))
    }
}
