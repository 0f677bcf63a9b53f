#if Logging
    public import Dunlin
    public import Logging

    extension HTTPSession {
        /// What `log(to:)` writes, and whether it sends request ids.
        public struct LogSettings: Sendable {
            /// The levels of lines, by what came of the request; nil for no line.
            public struct Levels: Sendable, Hashable {
                /// A response with any other status than the following. By default such lines are for those who look
                /// for an error; `.info` makes them an access log.
                public var success: Logger.Level? = .debug
                /// A response with a 4xx status, accepted or not.
                public var clientError: Logger.Level? = .notice
                /// A response with a 5xx status, accepted or not.
                public var serverError: Logger.Level? = .warning
                /// Any other error.
                public var failure: Logger.Level? = .warning
                /// The request, or the task that awaited it, was cancelled.
                public var cancelled: Logger.Level? = .info
                /// Lines between the beginning of a request and its end: waits, retries, redirects and the like.
                public var steps: Logger.Level? = .debug

                public init() {}
            }

            public var levels = Levels()
            /// The name of a field in which each request sends an id, such as `X-Request-ID`; nil to send none, which
            /// is the default. A request that has the field already keeps it. The id goes to the origin that the
            /// request was made for, and not to others that redirects lead to.
            public var requestIDField: String?
            /// The keys under which the task's logger may have the id of the request that this task answers, the first
            /// one first. Such an id is passed on if it has at most 64 characters, and only letters, digits and
            /// `-._~:+/=`; otherwise, and without one, each request gets a random id.
            public var requestIDKeys = ["request.id", "request-id", "request_id", "hb.request.id"]
            /// Whether the line of a failed request gives the error to the log handler, which may print it. A
            /// `NetworkError` shows no secrets of its own, but an error of your code that it contains may.
            public var passesErrors = false

            public init() {}
        }
    }

    extension HTTPSession.LogSettings {
        /// The highest level that any line has; nil if there are none.
        var highest: Logger.Level? {
            [levels.success, levels.clientError, levels.serverError, levels.failure, levels.cancelled, levels.steps]
                .compactMap(\.self).max()
        }
    }

    extension HTTPSession.LogSettings.Levels {
        /// The level of a request's last line.
        func level(of completion: HTTPSession.Completion) -> Logger.Level? {
            let error = completion.error as? NetworkError
            if completion.error is CancellationError || error?.code == .cancelled { return cancelled }
            let isAnswer = completion.error == nil || error?.code == .unacceptableStatus
            guard isAnswer, let status = completion.status else { return completion.error == nil ? success : failure }
            if status.isClientError { return clientError }
            if status.isServerError { return serverError }
            return completion.error == nil ? success : failure
        }
    }

    extension HTTPSession.Completion {
        /// The status of the response, also of one that was refused.
        var status: HTTP.Status? { response?.status ?? (error as? NetworkError)?.response?.status }
    }
#endif
