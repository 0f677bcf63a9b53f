#if Tracing
    internal import Tracing

    /// The names of attributes.
    enum SpanKey: String, CaseIterable {
        case method = "http.request.method"
        case originalMethod = "http.request.method_original"
        case resendCount = "http.request.resend_count"
        case status = "http.response.status_code"
        case url = "url.full"
        case address = "server.address"
        case port = "server.port"
        case peer = "network.peer.address"
        case peerPort = "network.peer.port"
        case version = "network.protocol.version"
        case error = "error.type"

        // Only where they are asked for.
        case scheme = "url.scheme"
        case transport = "network.transport"
        case userAgent = "user_agent.original"
        /// These two are followed by a dot and the name of a field.
        case requestField = "http.request.header"
        case responseField = "http.response.header"

        // In development.
        case template = "url.template"
        case requestSize = "http.request.size"
        case responseSize = "http.response.size"
        case requestBodySize = "http.request.body.size"
        case bodySize = "http.response.body.size"

        // Dunlin's own.
        case task = "dunlin.task"
        case attempt = "dunlin.attempt"
        case exchanges = "dunlin.exchanges"
        case isReused = "dunlin.connection.reused"
        case proxy = "dunlin.proxy"
        case body = "dunlin.body"
        case droppedFields = "dunlin.fields.dropped"
        case errorPhase = "dunlin.error.phase"
        case duration = "dunlin.duration_ms"
        case wait = "dunlin.wait_ms"
        case reason = "dunlin.reason"
        case cacheSource = "dunlin.cache.source"
        case cacheState = "dunlin.cache.state"
        case offset = "dunlin.offset"
    }

    extension SpanAttributes {
        /// Sets an attribute; nil leaves it out.
        subscript(_ key: SpanKey) -> (any SpanAttributeConvertible)? {
            get { self[key.rawValue] }
            set { self[key.rawValue] = newValue }
        }
    }
#endif
