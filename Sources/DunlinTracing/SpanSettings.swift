#if Tracing
    public import Dunlin

    extension HTTPSession {
        /// Which spans `recordSpans` records, and where their context is sent.
        public struct SpanSettings: Sendable {
            /// Where the fields that continue a trace are sent, such as `traceparent`.
            public enum Propagation: String, Sendable, Hashable, CaseIterable {
                case nowhere
                /// To the origin that the request was made for, and not to others that redirects lead to.
                case requestedOrigin
                case everywhere
            }

            /// Where the fields that continue a trace are sent. A request that has such a field already keeps it, and
            /// gets no other.
            public var propagation = Propagation.requestedOrigin
            /// Whether the context's baggage is sent too, in the field `baggage`. It may say more of the program's
            /// users than a server should know.
            public var sendsBaggage = false
            /// Whether each request has a span of its own, of kind `internal`, above those of its exchanges: from the
            /// time when the request is made or its handle is resumed, to its outcome.
            public var recordsRequests = false
            /// Whether `url.full` has the path as it was sent, which OpenTelemetry wants. If not, it has the path of
            /// the target's template in its place, `https://host/hooks/{key}`, or `REDACTED` without a template: for
            /// paths that contain secrets.
            public var showsPaths = true
            /// Whether spans have attributes that OpenTelemetry has not declared stable yet, and may still rename:
            /// `url.template`, and the sizes of requests and responses.
            public var includesDevelopment = false
            /// Whether exchanges have the attributes that OpenTelemetry leaves to be asked for: `url.scheme`,
            /// `network.transport` and `user_agent.original`.
            public var includesOptional = false
            /// The names of request fields that exchanges have as `http.request.header.NAME`. Fields that are secret by
            /// their name, by the session's `secretFields` or by something in a value are left out, and so is what
            /// interceptors around the exchange change.
            public var requestFields: [String] = []
            /// The names of response fields that exchanges have as `http.response.header.NAME`, in the same way.
            public var responseFields: [String] = []
            /// The methods that are recorded by their names. All others are `_OTHER`.
            public var knownMethods: Set<HTTP.Method> = [
                .get, .head, .post, .put, .patch, .delete, .options, .trace, .connect, .query,
            ]

            public init() {}
        }
    }
#endif
