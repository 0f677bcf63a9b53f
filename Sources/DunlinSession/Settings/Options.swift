extension HTTPSession {
    /// What one request does differently from its session.
    public struct Options: Sendable {
        /// Each field here replaces the session's fields of the same name.
        public var fields: Fields
        /// How long a response's body may be that is read as a whole.
        public var maximumBodySize: BodySizeLimit
        /// Whether a status other than 2xx, or a content type that the serializer does not expect, is an error.
        public var validatesResponse: Bool
        /// Whether content codings, such as gzip, are taken off the response. Without, the body is what was on the
        /// wire, and the default `Accept-Encoding` is not sent; one of your own is.
        public var decompresses: Bool
        /// Who goes first when requests wait for a connection. It overtakes those who wait already, not those who run.
        public var priority: HTTP.Priority
        /// Whether the body waits for the server's leave (`Expect: 100-continue`), so that a refusal costs no upload.
        /// Means nothing without a body. A field `Expect: 100-continue` of the caller's own does the same.
        public var expectsContinue = false
        /// Nil where it is the session's and the usual.
        @usableFromInline var timeLimits: TimeLimits?
        /// What few requests set.
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

        /// The same, with a policy for retries instead of the session's.
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

    /// How long a request waits, where it says so itself. An object, so that options that say nothing stay small: they
    /// are handed over with every call.
    @usableFromInline final class TimeLimits: Sendable {
        let timeouts: Timeouts?
        let continueTimeout: Duration
        static let usualContinueTimeout = Duration.seconds(1)

        init(_ timeouts: Timeouts?, continueTimeout: Duration) {
            self.timeouts = timeouts
            self.continueTimeout = continueTimeout
        }
    }

    /// How long a body may be that is read as a whole.
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
    /// Instead of the session's.
    public var timeouts: Timeouts? {
        get { timeLimits?.timeouts }
        set { timeLimits = HTTPSession.TimeLimits(newValue, continueTimeout: continueTimeout) }
    }

    /// How long a body waits for leave before it is sent without: not every server gives it.
    public var continueTimeout: Duration {
        get { timeLimits?.continueTimeout ?? HTTPSession.TimeLimits.usualContinueTimeout }
        set { timeLimits = HTTPSession.TimeLimits(timeouts, continueTimeout: newValue) }
    }
}
