extension HTTPSession {
    /// How a stream of server-sent events is read, and when it is requested again: see <doc:Streams>.
    ///
    /// How often failed attempts are repeated, and after which waits, is the retry policy of the request's options. It
    /// is `EventSettings.retry` if they have none.
    public struct EventSettings: Sendable, Hashable {
        /// Whether the stream is requested again when it ends or breaks.
        public var reconnects = true
        /// Whether that is done for methods such as POST too, after the server may have carried the request out. Once
        /// an event was delivered, it is done only if the server has sent an ID to resume after, or with `beginsAnew`.
        public var repeatsNonIdempotent = false
        /// Whether the request is repeated although the server will send again what was delivered, because it has sent
        /// no ID. `Reconnection.beginsAnew` says so to the event and the hook `reconnecting`, so that you drop what
        /// you have; in a loop, compare the stream's `attempt`.
        public var beginsAnew = false
        /// The shortest wait before a reconnection, whatever the server asks for.
        public var minimumWait: Duration = .milliseconds(500)
        /// The longest wait that the server may ask for, by the field `retry` of an event.
        public var longestServerWait: Duration = .seconds(300)
        /// The longest wait for an event on an open stream; nil for no limit. Comments are no events: they only keep
        /// the connection from exceeding `readIdle`. A stream that is silent for longer counts as broken.
        public var silence: Duration?
        /// The greatest size of an event, in bytes. A larger one ends the stream with code `limitExceeded`.
        public var eventLimit = 1 << 20
        /// The names of events by which the server says that it has failed, such as `error` of model APIs. The first
        /// one ends the stream with code `errorEvent`, which says what the server wrote, and is not delivered.
        public var errorNames: Set<String> = []

        public init(
            reconnects: Bool = true, repeatsNonIdempotent: Bool = false, minimumWait: Duration = .milliseconds(500),
            longestServerWait: Duration = .seconds(300), silence: Duration? = nil, eventLimit: Int = 1 << 20,
            beginsAnew: Bool = false, errorNames: Set<String> = []
        ) {
            (self.reconnects, self.repeatsNonIdempotent) = (reconnects, repeatsNonIdempotent)
            (self.minimumWait, self.longestServerWait) = (minimumWait, longestServerWait)
            (self.silence, self.eventLimit, self.beginsAnew) = (silence, eventLimit, beginsAnew)
            self.errorNames = errorNames
        }

        /// The usual retry policy of a stream: nine failed attempts in a row may be followed by another, if the
        /// connection failed or something took too long. A status is no reason, as in browsers.
        public static let retry = RetryPolicy.exponential(
            attempts: 10, base: .seconds(1), cap: .seconds(30), when: [.connectionFailure, .timeout])
    }
}

extension HTTPSession.EventSettings {
    /// What is wrong with the settings; nil if nothing.
    var problem: String? {
        if minimumWait < .zero { return "minimumWait must be at least \(Duration.zero), not \(minimumWait)" }
        if longestServerWait < .zero {
            return "longestServerWait must be at least \(Duration.zero), not \(longestServerWait)"
        }
        if let silence, silence <= .zero { return "silence must be above zero, not \(silence)" }
        return nil
    }
}
