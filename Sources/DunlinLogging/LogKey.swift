#if Logging
    public import Dunlin

    extension HTTPSession {
        /// The metadata keys of the lines. Where OpenTelemetry has a name, it is the key. More may be added.
        public enum LogKey: String, Sendable, Hashable, CaseIterable {
            case method = "http.request.method"
            /// The path of the target as the program wrote it, with that of the base URL before it: `/v1/users/{id}`.
            case template = "url.template"
            /// The path, if the program has no template of the target.
            case path = "url.path"
            case host = "server.address"
            case port = "server.port"
            case status = "http.response.status_code"
            /// The status of a response that was refused, the code of another `NetworkError`, `cancelled`, or the type
            /// of another error.
            case error = "error.type"
            case peer = "network.peer.address"
            case peerPort = "network.peer.port"
            /// The phase in which the request failed.
            case phase = "dunlin.error.phase"
            /// The number of the request, unique in the process.
            case task = "dunlin.task"
            case requestID = "dunlin.request.id"
            case attempts = "dunlin.attempts"
            /// How many exchanges there were: each redirect, retry and answer to a challenge is another.
            case exchanges = "dunlin.exchanges"
            /// From the beginning of the request to its end, in milliseconds.
            case duration = "dunlin.duration_ms"
            /// The time in each phase, of all exchanges together, in milliseconds.
            case phases = "dunlin.phases_ms"
            case bytesSent = "dunlin.bytes.sent"
            case bytesReceived = "dunlin.bytes.received"
            case reused = "dunlin.connection.reused"
            case proxy = "dunlin.proxy"
            /// Where an answer of the cache came from.
            case cacheSource = "dunlin.cache.source"
            /// Whether that was `fresh`, `stale` or `revalidated`.
            case cacheState = "dunlin.cache.state"
            /// What the cache did, as in `Cache-Status`.
            case cacheStatus = "dunlin.cache.status"
            /// Whether the request waited for an identical one.
            case joined = "dunlin.joined"
            /// Whether the session asked for itself if a stored response is still valid.
            case revalidation = "dunlin.revalidation"
            /// What happened, in a line before the last.
            case step = "dunlin.step"
            /// Why the request was sent again, if by neither a retry nor a redirect.
            case reason = "dunlin.reason"
            /// A wait before or after that step, in milliseconds.
            case wait = "dunlin.wait_ms"
            /// How many bytes of a download were there already.
            case offset = "dunlin.offset"
            case redirectHost = "dunlin.redirect.host"
            case redirectPath = "dunlin.redirect.path"
        }
    }

    extension HTTPSession.LogKey {
        static let names = Set(allCases.map(\.rawValue))
    }
#endif
