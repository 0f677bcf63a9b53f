internal import DunlinWire

extension HTTPSession {
    /// How a WebSocket connection is used: its limits, its times, and whether messages are compressed.
    public struct WebSocketSettings: Sendable, Hashable {
        /// The longest frame that is accepted, in bytes.
        public var frameLimit = 16 * 1024 * 1024
        /// The longest message that is accepted, in bytes after decompression; nil for no limit, for messages that are
        /// read piece by piece.
        public var messageLimit: Int? = 16 * 1024 * 1024
        /// How many bytes of messages may have arrived and wait for a reader. Beyond it the connection is not read.
        public var backlogLimit = 1024 * 1024
        /// After this time without a byte from the peer, a ping is sent; nil for none. Without pings, a peer that has
        /// vanished would never be noticed, and many proxies end a connection that is silent for a minute.
        public var pingInterval: Duration? = .seconds(30)
        /// How long after a ping was written something must arrive, and how long a ping that is due may have to wait
        /// while the peer takes nothing. Otherwise the connection ends with code `timedOut`.
        public var pongLimit: Duration = .seconds(20)
        /// How long the closing handshake may take.
        public var closeLimit: Duration = .seconds(10)
        /// The codes of a server's close frame after which a socket that is `reconnecting` does so: the server, or a
        /// proxy before it, goes away, has failed, or is busy.
        public var passingCodes: Set<HTTP.WebSocketCloseCode> = [
            .goingAway, .internalError, .serviceRestart, .tryAgainLater, .badGateway,
        ]
        /// Compression to offer; nil, the default, for none. The length of a compressed message depends on what it
        /// repeats. If secrets and text that others choose go over one connection, the lengths can reveal the secrets.
        public var compression: Compression?

        public init() {}

        /// How messages are compressed, if the server agrees (permessage-deflate, RFC 7692).
        public struct Compression: Sendable, Hashable {
            /// From 1, fastest, to 9, smallest.
            public var level = 6
            /// Whether a message may refer to those before it, which makes similar messages much shorter. If not, both
            /// sides compress each message by itself.
            public var keepsContext = true
            /// Messages of fewer bytes are sent as they are: compressed by themselves they become longer. One that is
            /// sent piece by piece is always compressed.
            public var shortest = 0

            public init(level: Int = 6, keepsContext: Bool = true, shortest: Int = 0) {
                (self.level, self.keepsContext, self.shortest) = (level, keepsContext, shortest)
            }
        }
    }
}

extension HTTPSession.WebSocketSettings {
    var limits: WebSocketLimits {
        var limits = WebSocketLimits()
        (limits.frameBytes, limits.messageBytes, limits.backlogBytes) = (frameLimit, messageLimit, backlogLimit)
        return limits
    }

    var times: WebSocketTimes {
        var times = WebSocketTimes()
        (times.pingInterval, times.pongLimit, times.closeLimit) = (pingInterval, pongLimit, closeLimit)
        return times
    }

    var offer: WebSocketDeflate.Offer? {
        guard let compression else { return nil }
        var offer = WebSocketDeflate.Offer()
        offer.clientNoContextTakeover = !compression.keepsContext
        offer.serverNoContextTakeover = !compression.keepsContext
        return offer
    }

    /// Throws for limits that nothing could meet.
    func validate() throws {
        let limits: [(String, Int)] = [
            ("frameLimit", frameLimit), ("messageLimit", messageLimit ?? 1), ("backlogLimit", backlogLimit),
        ]
        for (name, limit) in limits where limit <= 0 { throw Self.refusal("\(name) must be above zero, not \(limit)") }
        let times: [(String, Duration)] = [
            ("pingInterval", pingInterval ?? .seconds(1)), ("pongLimit", pongLimit), ("closeLimit", closeLimit),
        ]
        for (name, time) in times where time <= .zero {
            throw Self.refusal("\(name) must be above zero, not \(time)")
        }
        let level = compression?.level ?? 6
        guard (1...9).contains(level) else { throw Self.refusal("compression.level must be from 1 to 9, not \(level)") }
    }

    private static func refusal(_ problem: String) -> NetworkError {
        NetworkError(.invalidConfiguration, "settings.\(problem)")
    }
}
