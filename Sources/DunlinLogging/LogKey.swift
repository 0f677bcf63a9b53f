#if Logging
    public import Dunlin

    extension HTTPSession {
        /// The metadata keys of the lines. Where OpenTelemetry has a name, it is the key. More may be added.
        public enum LogKey: String, Sendable, Hashable, CaseIterable {
            case method = "http.request.method"
            /// The target as the program wrote it, `users/{id}`.
            case template = "url.template"
            /// The path, if the program has no template of the target.
            case path = "url.path"
            case host = "server.address"
            case port = "server.port"
            case status = "http.response.status_code"
            /// The code of a `NetworkError`, or the type of another error.
            case error = "error.type"
            case peer = "network.peer.address"
            case peerPort = "network.peer.port"
            /// The phase in which the request failed.
            case phase = "dunlin.error.phase"
            /// The number of the request, unique in the process.
            case task = "dunlin.task"
            case requestID = "dunlin.request.id"
            case attempts = "dunlin.attempts"
            case hops = "dunlin.hops"
            /// From the beginning of the request to its end, in milliseconds.
            case duration = "dunlin.duration_ms"
            /// The time in each phase, of all hops together, in milliseconds.
            case phases = "dunlin.phases_ms"
            case bytesSent = "dunlin.bytes.sent"
            case bytesReceived = "dunlin.bytes.received"
            case reused = "dunlin.connection.reused"
            case proxy = "dunlin.proxy"
            /// What the cache did, as in `Cache-Status`.
            case cache = "dunlin.cache"
            /// Whether the request waited for an identical one.
            case joined = "dunlin.joined"
            /// Whether the session asked for itself if a stored response is still valid.
            case revalidation = "dunlin.revalidation"
            /// What happened, in a line before the last.
            case step = "dunlin.step"
            /// A wait before or after that step, in milliseconds.
            case wait = "dunlin.wait_ms"
            case redirectHost = "dunlin.redirect.host"
            case redirectPath = "dunlin.redirect.path"
        }
    }

    extension HTTPSession.LogKey {
        static let names = Set(allCases.map(\.rawValue))
    }
#endif
