extension HTTPSession {
    /// The settings of one request that differ from its session's.
    public struct Options: Sendable {
        /// Fields of this request; each replaces the session's fields of the same name.
        public var fields: Fields
        /// How large a response's body may be if it is read as a whole.
        public var maximumBodySize: BodySizeLimit
        /// Whether a status other than 2xx, or a content type that the serializer does not expect, is an error.
        public var validatesResponse: Bool
        /// Whether content codings, such as gzip, are taken off the response. If not, the body is what was on the wire,
        /// and the default `Accept-Encoding` is not sent; one of your own is.
        public var decompresses: Bool
        /// The order in which requests that wait for a connection are served. A higher priority overtakes those that
        /// wait already, not those that run.
        public var priority: HTTP.Priority
        /// Whether the body waits for the server's consent (`Expect: 100-continue`), so that a refusal costs no upload.
        /// Has no effect without a body. A field `Expect: 100-continue` of your own does the same.
        public var expectsContinue = false
        /// Nil if the limits are the session's and the usual ones.
        @usableFromInline var timeLimits: TimeLimits?
        /// Options that few requests set; nil if none is set.
        @usableFromInline var rare: RareOptions?

        @inlinable public init(
            fields: Fields = Fields(), timeouts: Timeouts? = nil, maximumBodySize: BodySizeLimit = .session,
            validatesResponse: Bool = true, decompresses: Bool = true, label: String? = nil,
            priority: HTTP.Priority = .normal
        ) {
            self.fields = fields
            self.maximumBodySize = maximumBodySize
            self.validatesResponse = validatesResponse
            self.decompresses = decompresses
            self.priority = priority
            if let timeouts { self.timeouts = timeouts }
            if let label { self.label = label }
        }

        /// Options with a retry policy instead of the session's.
        public init(
            fields: Fields = Fields(), timeouts: Timeouts? = nil, maximumBodySize: BodySizeLimit = .session,
            validatesResponse: Bool = true, decompresses: Bool = true, label: String? = nil,
            priority: HTTP.Priority = .normal, retry: RetryPolicy
        ) {
            self.init(
                fields: fields, timeouts: timeouts, maximumBodySize: maximumBodySize,
                validatesResponse: validatesResponse,
                decompresses: decompresses, label: label, priority: priority)
            self.retry = retry
        }
    }

    /// The time limits of a request that has its own. An object, so that options without them stay small: they are
    /// passed with every call.
    @usableFromInline final class TimeLimits: Sendable {
        let timeouts: Timeouts?
        let continueTimeout: Duration
        static let usualContinueTimeout = Duration.seconds(1)

        init(_ timeouts: Timeouts?, continueTimeout: Duration) {
            self.timeouts = timeouts
            self.continueTimeout = continueTimeout
        }
    }

    /// How large a body may be that is read as a whole.
    public enum BodySizeLimit: Sendable, Hashable, ExpressibleByIntegerLiteral {
        /// The session's `limits.maximumBodySize`.
        case session
        case bytes(Int)
        case unlimited

        public init(integerLiteral value: Int) {
            self = .bytes(value)
        }

        func bytes(of session: Int?) -> Int? {
            switch self {
            case .session: session
            case .bytes(let count): count
            case .unlimited: nil
            }
        }
    }
}

extension HTTPSession.Options {
    /// Replace the session's timeouts.
    public var timeouts: Timeouts? {
        get { timeLimits?.timeouts }
        set { timeLimits = HTTPSession.TimeLimits(newValue, continueTimeout: continueTimeout) }
    }

    /// How long a body waits for the server's consent before it is sent without: not every server answers.
    public var continueTimeout: Duration {
        get { timeLimits?.continueTimeout ?? HTTPSession.TimeLimits.usualContinueTimeout }
        set { timeLimits = HTTPSession.TimeLimits(timeouts, continueTimeout: newValue) }
    }
}
