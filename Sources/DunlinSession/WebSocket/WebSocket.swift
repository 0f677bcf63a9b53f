internal import DunlinContent
internal import DunlinWire

extension HTTPSession {
    /// A WebSocket connection: messages in both directions, each a text or bytes.
    ///
    /// Any number of tasks may send at the same time: each message arrives as a whole. One task at a time reads.
    ///
    /// The connection is read from the beginning, whether or not anybody wants messages, and pings are answered. What
    /// has arrived waits for its reader, up to `settings.backlogLimit`; then nothing more is read until it has been
    /// taken, and so the peer waits too.
    ///
    /// The connection counts as a running request until it has ended: by `close`, by the peer, by an error, when its
    /// request is cancelled, and when the last reference to the socket is released.
    public final class WebSocket: Sendable {
        /// A text or bytes.
        public typealias Message = HTTP.WebSocketMessage
        /// Why a connection is closed, as a number.
        public typealias CloseCode = HTTP.WebSocketCloseCode

        /// The subprotocol that the server chose of those offered; nil for none.
        public let subprotocol: String?
        /// Whether the server agreed to compress messages.
        public let isCompressed: Bool
        /// Which connection before it was lost; nil for the first, and for a socket that does not reconnect.
        public let reconnection: Reconnection?
        let driver: WebSocketDriver
        let content: ContentSettings
        /// What drives the connection, unless a scope does.
        private let life: Task<Void, Never>?

        init(_ opened: OpenedWebSocket, _ content: ContentSettings, _ life: Task<Void, Never>?) {
            self.content = content
            (subprotocol, isCompressed) = (opened.agreement.subprotocol, opened.agreement.deflate != nil)
            (driver, reconnection, self.life) = (opened.driver, opened.reconnection, life)
        }

        deinit { life?.cancel() }

        /// The head of the answer that opened the connection.
        public var head: ResponseHead { driver.connection.head }
        public var fields: Fields { driver.connection.fields }
        /// The URL that was asked, with the scheme `http` or `https`, without user info.
        public var url: String { driver.connection.url }
        /// How long each phase has taken so far, and how many bytes have gone both ways.
        public var metrics: HTTPSession.Metrics { driver.connection.metrics }
        /// Whether the connection has not ended.
        public var isOpen: Bool { driver.end == nil }

        /// How the connection was closed: the code of whoever closed it first, `noCode` (1005) if the close frame had
        /// none, `abnormal` (1006) if there was no closing handshake; nil while it is open.
        public var closeCode: CloseCode? {
            switch driver.end {
            case nil: nil
            case .closed(let code, _, _): code
            case .failed: .abnormal
            }
        }

        /// The reason that goes with `closeCode`; empty for none.
        public var closeReason: String {
            if case .closed(_, let reason, _) = driver.end { reason } else { "" }
        }
    }
}

/// A connection whose handshake is over, before anything drives it.
struct OpenedWebSocket {
    let driver: WebSocketDriver
    let agreement: WebSocketHandshake.Agreement
    let reconnection: HTTPSession.Reconnection?
}
