package import DunlinTypes

/// The life of a WebSocket connection after its handshake: control frames, the closing handshake, pings (RFC 6455 §5.5
/// and §7).
///
/// Rules:
/// 1. A ping is answered with its own bytes. If several came before the answer could be written, only the latest is
///    answered (§5.5.3).
/// 2. Pings of ours are numbered. A pong answers all pings up to its number. Any byte from the peer shows that it is
///    alive, since a pong waits behind the frame that is being sent. While we do not read, nothing can be expected.
/// 3. Whoever wants to close says so, the other answers, and then the server ends the stream. After our close frame we
///    send nothing, and of what comes only the peer's close frame counts. All of that has one limit; if the frames have
///    been exchanged in time, the connection was closed properly, whether or not the stream has ended.
/// 4. After an error we say close with its code if it has one, wait for nothing, and end.
///
/// `next` says what to do, and is asked again after each event and when that has been done. It must not know messages,
/// nor when a frame can be written.
package struct WebSocketMachine: Sendable {
    package enum Action: Sendable, Equatable {
        /// Write this between two frames; then ask again.
        case write(WebSocketControl)
        /// Nothing is to be done before the next event, or before this time.
        case wait(until: HTTP.Instant?)
        /// Close the connection.
        case end(WebSocketOutcome)
    }

    private enum State: Sendable, Equatable {
        case open
        /// We said close, and the peer has not.
        case closing(WebSocketClosing, limit: HTTP.Instant)
        /// Both said close; the stream has not ended.
        case closed(WebSocketOutcome, limit: HTTP.Instant)
        /// Our close frame is the last thing to write, if there is one.
        case failing(WebSocketOutcome, limit: HTTP.Instant)
        case ended(WebSocketOutcome)
    }

    private let times: WebSocketTimes
    private var state = State.open

    // What is to be written.
    private var pong: Bytes?
    private var ping: UInt64?
    private var close: WebSocketClosing?

    // Pings.
    private var lastPing: UInt64 = 0
    private var lastAnswered: UInt64 = 0
    /// When the peer was last known to be alive.
    private var aliveAt: HTTP.Instant
    /// When the first ping was written after which nothing has arrived.
    private var pingedAt: HTTP.Instant?
    private var isReading = true

    package init(times: WebSocketTimes = WebSocketTimes(), at now: HTTP.Instant) {
        self.times = times
        aliveAt = now
    }

    /// Whether messages may be sent, and those that arrive are to be delivered.
    package var isOpen: Bool { state == .open }

    /// The number of the last ping that the peer has answered.
    package var answeredPing: UInt64 { lastAnswered }

    // MARK: - Events from the peer

    /// Notes that bytes arrived.
    package mutating func receivedBytes(at now: HTTP.Instant) {
        aliveAt = now
        pingedAt = nil
    }

    package mutating func receive(_ control: WebSocketControl, at now: HTTP.Instant) {
        switch control {
        case .ping(let bytes): if isOpen { pong = bytes }
        case .pong(let bytes): answer(bytes)
        case .close(let closing): receive(closing, at: now)
        }
    }

    /// Notes the end of the stream.
    package mutating func streamEnded() {
        switch state {
        case .open, .closing: state = .ended(.failed(.endedWithoutClose))
        case .closed(let outcome, _), .failing(let outcome, _): state = .ended(outcome)
        case .ended: break
        }
    }

    // MARK: - Events from our side

    /// Sends a ping; returns its number. Pings that have not been written become one.
    package mutating func sendPing() -> UInt64? {
        guard isOpen else { return nil }
        lastPing += 1
        ping = lastPing
        return lastPing
    }

    /// Begins the closing handshake; nothing if it has begun.
    package mutating func close(_ closing: WebSocketClosing, at now: HTTP.Instant) {
        guard isOpen else { return }
        close = closing
        state = .closing(closing, limit: now.advanced(by: times.closeLimit))
    }

    /// Ends the connection after an error; nothing if both sides have said close, or it has failed.
    package mutating func fail(_ error: WebSocketError, at now: HTTP.Instant) {
        switch state {
        case .open: close = WebSocketClosing(answering: error)
        case .closing: break
        case .closed, .failing, .ended: return
        }
        (pong, ping) = (nil, nil)
        state = .failing(.failed(error), limit: now.advanced(by: times.closeLimit))
    }

    /// Notes that the connection is not read, because nobody takes what has arrived.
    package mutating func stopReading() { isReading = false }

    /// Notes that the connection is read again.
    package mutating func resumeReading(at now: HTTP.Instant) {
        isReading = true
        receivedBytes(at: now)
    }
}

// MARK: - What to do

extension WebSocketMachine {
    package mutating func next(at now: HTTP.Instant) -> Action {
        checkTime(now)
        if case .ended(let outcome) = state { return .end(outcome) }
        if let bytes = pong.take() { return .write(.pong(bytes)) }
        if let number = ping.take() {
            pingedAt = pingedAt ?? now
            return .write(.ping(Self.bytes(of: number)))
        }
        if let closing = close.take() { return .write(.close(closing)) }
        if case .failing(let outcome, _) = state {
            state = .ended(outcome)
            return .end(outcome)
        }
        return .wait(until: deadline)
    }

    /// How the connection ended, if it has by now. To be asked while something is being written, at the deadline.
    package mutating func outcome(at now: HTTP.Instant) -> WebSocketOutcome? {
        checkTime(now)
        if case .ended(let outcome) = state { return outcome }
        return nil
    }

    /// When something is to be done though nothing has happened.
    package var deadline: HTTP.Instant? {
        switch state {
        case .open:
            guard isReading else { return nil }
            if let pingedAt { return pingedAt.advanced(by: times.pongLimit) }
            return times.pingInterval.map { aliveAt.advanced(by: $0) }
        case .closing(_, let limit), .closed(_, let limit), .failing(_, let limit): return limit
        case .ended: return nil
        }
    }

    private mutating func checkTime(_ now: HTTP.Instant) {
        guard let deadline, deadline <= now else { return }
        switch state {
        case .open:
            if pingedAt != nil {
                state = .ended(.failed(.noPong))
            } else if ping == nil {
                _ = sendPing()
            }
        case .closing: state = .ended(.failed(.noClose))
        case .closed(let outcome, _), .failing(let outcome, _): state = .ended(outcome)
        case .ended: break
        }
    }

    private mutating func receive(_ closing: WebSocketClosing, at now: HTTP.Instant) {
        switch state {
        case .open:
            close = closing.answer
            state = .closed(.closed(closing, byPeer: true), limit: now.advanced(by: times.closeLimit))
        case .closing(let ours, let limit):
            state = .closed(.closed(ours, byPeer: false), limit: limit)
        case .closed, .failing, .ended: break
        }
    }

    /// Takes a pong; one that answers no ping of ours is ignored, as the RFC wants (§5.5.3).
    private mutating func answer(_ bytes: Bytes) {
        guard bytes.count == 8 else { return }
        let number = bytes.reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
        if number > lastAnswered, number <= lastPing { lastAnswered = number }
    }

    private static func bytes(of number: UInt64) -> Bytes {
        withUnsafeBytes(of: number.bigEndian) { Bytes(Array($0)) }
    }
}
