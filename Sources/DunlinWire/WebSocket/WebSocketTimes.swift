/// How long a WebSocket connection waits for its peer.
package struct WebSocketTimes: Sendable, Hashable {
    /// After this time without a byte from the peer, a ping is sent; nil for none.
    package var pingInterval: Duration?
    /// How long after a ping something must arrive.
    package var pongLimit: Duration = .seconds(20)
    /// How long the closing handshake may take, the end of the stream included.
    package var closeLimit: Duration = .seconds(10)

    /// How long after an error, or after nothing could be written any more, what still comes is read.
    var discardLimit: Duration { min(closeLimit, .seconds(1)) }

    package init() {}
}
