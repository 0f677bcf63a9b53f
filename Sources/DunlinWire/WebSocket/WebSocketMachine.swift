package import DunlinTypes

/// The life of a WebSocket connection after its handshake: control frames, the closing handshake, pings (RFC 6455 §5.5
/// and §7).
///
/// Rules:
/// 1. A ping is answered with its own bytes. If several came before the answer could be written, only the latest is
///    answered (§5.5.3).
/// 2. Pings of ours are numbered. A pong answers all pings up to its number. Any byte from the peer shows that it is
///    alive, since a pong waits behind the frame that is being sent; so does progress of a write that had to wait.
///    While we do not read, nothing can be expected. The limit of a ping begins when it has been written; until then a
///    control frame has the same limit for being written.
/// 3. Whoever wants to close says so, the other answers, and then the server ends the stream. After our close frame we
///    send nothing, and of what comes only the peer's close frame counts. All of that has one limit; if the frames have
///    been exchanged in time, the connection was closed properly, whether or not the stream has ended.
/// 4. After an error we say close with its code if it has one, and that nothing more will be sent. The outcome is known
///    then. But a connection that is closed with unread input is reset, and a reset may take the close frame from the
///    peer. So what still comes is discarded until the peer ends the stream, within a limit of time and one of bytes.
/// 5. When nothing can be written any more, the peer may have said why. What it sent before is still delivered, up to
///    its close frame or the end of the stream, within the same limit of time.
///
/// `next` says what to do, and is asked again when that has been done, and after an event if it said to wait. It must
/// not know messages, nor when a frame can be written.
package struct WebSocketMachine: Sendable {
    package enum Action: Sendable, Equatable {
        /// Write this between two frames; then ask again.
        case write(WebSocketControl)
        /// Nothing is to be done before the next event, or before this time.
        case wait(until: HTTP.Instant?)
        /// Say that nothing more will be written, tell the outcome, and discard what comes until the connection ends.
        /// `next` has nothing more to say.
        case discard(WebSocketOutcome)
        /// Close the connection.
        case end(WebSocketOutcome)
    }

    private enum State: Sendable, Equatable {
        case open
        /// Nothing can be written any more; what the peer sent before is delivered.
        case draining(limit: HTTP.Instant)
        /// We said close, and the peer has not.
        case closing(WebSocketClosing, limit: HTTP.Instant)
        /// Both said close, though ours may not have been written. Otherwise the end of the stream is the end.
        case closed(WebSocketOutcome, limit: HTTP.Instant, streamHasEnded: Bool)
        /// Our close frame is the last thing to write, if there is one. What comes meanwhile is discarded; `bytesLeft`
        /// is nil once nothing more is to be read.
        case failing(WebSocketOutcome, limit: HTTP.Instant, bytesLeft: Int?)
        /// Our close frame has been written; what comes is discarded.
        case discarding(WebSocketOutcome, limit: HTTP.Instant, bytesLeft: Int)
        case ended(WebSocketOutcome)
    }

    /// A control frame that was to be written, and has not been as far as we know.
    private struct Unwritten: Sendable {
        /// Its number, if it is a ping.
        let ping: UInt64?
        /// When it was given out, or the peer was last known to be alive after that.
        var since: HTTP.Instant
    }

    private let times: WebSocketTimes
    private var state = State.open

    // What is to be written.
    private var pong: Bytes?
    private var ping: UInt64?
    private var close: WebSocketClosing?
    private var unwritten: Unwritten?
    private var hasSaidClose = false
    private var canWrite = true

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

    /// Whether messages may be sent.
    package var isOpen: Bool { state == .open }

    /// Whether messages that arrive are to be delivered.
    package var delivers: Bool {
        if case .draining = state { true } else { isOpen }
    }

    /// Whether the connection has failed, and is to be read without looking at what comes.
    package var discards: Bool {
        switch state {
        case .failing(_, _, let bytesLeft): bytesLeft != nil
        case .discarding: true
        default: false
        }
    }

    /// The number of the ping that is being written.
    package var unwrittenPing: UInt64? { unwritten?.ping }

    /// The number of the last ping that the peer has answered.
    package var answeredPing: UInt64 { lastAnswered }

    // MARK: - Events from the peer

    /// Notes that bytes arrived.
    package mutating func receivedBytes(at now: HTTP.Instant) {
        aliveAt = now
        pingedAt = nil
        unwritten?.since = now
    }

    package mutating func receive(_ control: WebSocketControl, at now: HTTP.Instant) {
        switch control {
        case .ping(let bytes): if isOpen { pong = bytes }
        case .pong(let bytes): answer(bytes)
        case .close(let closing): receive(closing, at: now)
        }
    }

    /// Notes that bytes came which nobody looks at.
    package mutating func discarded(_ count: Int) {
        switch state {
        case .failing(let outcome, let limit, let left?):
            state = .failing(outcome, limit: limit, bytesLeft: count >= left ? nil : left - count)
        case .discarding(let outcome, let limit, let left):
            state = count >= left ? .ended(outcome) : .discarding(outcome, limit: limit, bytesLeft: left - count)
        default: break
        }
    }

    /// Notes the end of the stream. The peer may still read our close frame, or our answer to its own.
    package mutating func streamEnded() {
        let isWriting = close != nil || unwritten != nil
        switch state {
        case .closed(let outcome, let limit, _) where isWriting:
            state = .closed(outcome, limit: limit, streamHasEnded: true)
        case .failing(let outcome, let limit, _) where isWriting:
            state = .failing(outcome, limit: limit, bytesLeft: nil)
        default: connectionLost()
        }
    }

    /// Notes that the connection can be neither read nor written any more.
    package mutating func connectionLost() {
        switch state {
        case .open, .draining, .closing: state = .ended(.failed(.endedWithoutClose))
        case .closed(let outcome, _, _), .failing(let outcome, _, _), .discarding(let outcome, _, _):
            state = .ended(outcome)
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

    /// Begins the closing handshake; nothing if it has begun. If nothing can be written, the peer's part is awaited.
    package mutating func close(_ closing: WebSocketClosing, at now: HTTP.Instant) {
        guard delivers else { return }
        if canWrite { close = closing }
        state = .closing(closing, limit: now.advanced(by: canWrite ? times.closeLimit : times.discardLimit))
    }

    /// Ends the connection after an error; nothing if both sides have said close, or it has failed.
    package mutating func fail(_ error: WebSocketError, at now: HTTP.Instant) {
        var limit = now.advanced(by: times.closeLimit)
        switch state {
        case .open: close = WebSocketClosing(answering: error)
        case .closing(_, let earlier): limit = min(limit, earlier)
        case .draining: break
        case .closed, .failing, .discarding, .ended: return
        }
        (pong, ping) = (nil, nil)
        state =
            canWrite
            ? .failing(.failed(error), limit: limit, bytesLeft: Self.mostDiscarded) : .ended(.failed(error))
    }

    /// Notes that a write that had to wait has gone on: the peer takes what we send.
    package mutating func wroteAfterWaiting(at now: HTTP.Instant) { receivedBytes(at: now) }

    /// Notes that nothing can be written any more.
    package mutating func writingFailed(at now: HTTP.Instant) {
        canWrite = false
        (pong, ping, close, unwritten, pingedAt) = (nil, nil, nil, nil, nil)
        let limit = now.advanced(by: times.discardLimit)
        switch state {
        case .open: state = .draining(limit: limit)
        case .closing(let ours, let earlier): state = .closing(ours, limit: min(limit, earlier))
        case .closed(let outcome, _, _), .failing(let outcome, _, _): state = .ended(outcome)
        case .draining, .discarding, .ended: break
        }
    }

    /// Notes that the connection is not read, because nobody takes what has arrived.
    package mutating func stopReading() { isReading = false }

    /// Notes that the connection is read again.
    package mutating func resumeReading(at now: HTTP.Instant) {
        isReading = true
        receivedBytes(at: now)
        if case .draining = state { state = .draining(limit: now.advanced(by: times.discardLimit)) }
    }
}

// MARK: - What to do

extension WebSocketMachine {
    package mutating func next(at now: HTTP.Instant) -> Action {
        noteWritten(at: now)
        checkTime(now)
        if case .ended(let outcome) = state { return .end(outcome) }
        if let bytes = pong.take() { return write(.pong(bytes), at: now) }
        if let number = ping.take() { return write(.ping(Self.bytes(of: number)), number, at: now) }
        if let closing = close.take() {
            hasSaidClose = true
            return write(.close(closing), at: now)
        }
        switch state {
        case .failing(let outcome, _, let left?) where hasSaidClose:
            state = .discarding(outcome, limit: now.advanced(by: times.discardLimit), bytesLeft: left)
            return .discard(outcome)
        case .failing(let outcome, _, _), .closed(let outcome, _, streamHasEnded: true):
            state = .ended(outcome)
            return .end(outcome)
        default: return .wait(until: deadline)
        }
    }

    /// How many bytes are read and discarded: a long message may be on its way when its sender learns of the end.
    private static let mostDiscarded = 16 * 1024 * 1024

    private mutating func write(_ control: WebSocketControl, _ ping: UInt64? = nil, at now: HTTP.Instant) -> Action {
        unwritten = Unwritten(ping: ping, since: now)
        return .write(control)
    }

    /// Notes that what was to be written has been. A ping's answer may have been faster.
    private mutating func noteWritten(at now: HTTP.Instant) {
        if let number = unwritten.take()?.ping, number > lastAnswered { pingedAt = pingedAt ?? now }
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
        case .open: isReading ? openDeadline : nil
        case .draining(let limit): isReading ? limit : nil
        case .closing(_, let limit), .closed(_, let limit, _), .failing(_, let limit, _), .discarding(_, let limit, _):
            limit
        case .ended: nil
        }
    }

    private var openDeadline: HTTP.Instant? {
        if let pingedAt { return pingedAt.advanced(by: times.pongLimit) }
        let writeLimit = unwritten?.since.advanced(by: times.pongLimit)
        if unwritten?.ping != nil { return writeLimit }
        // While another control frame cannot be written, a ping cannot either.
        guard let interval = times.pingInterval else { return nil }
        return max(aliveAt.advanced(by: interval), writeLimit ?? aliveAt)
    }

    private mutating func checkTime(_ now: HTTP.Instant) {
        guard let deadline, deadline <= now else { return }
        switch state {
        case .open:
            if pingedAt != nil || unwritten != nil {
                state = .ended(.failed(.noPong))
            } else if ping == nil {
                _ = sendPing()
            }
        case .draining: state = .ended(.failed(.endedWithoutClose))
        case .closing: state = .ended(.failed(.noClose))
        case .closed(let outcome, _, _), .failing(let outcome, _, _), .discarding(let outcome, _, _):
            state = .ended(outcome)
        case .ended: break
        }
    }

    private mutating func receive(_ closing: WebSocketClosing, at now: HTTP.Instant) {
        switch state {
        case .open:
            close = closing.answer
            let limit = now.advanced(by: times.closeLimit)
            state = .closed(.closed(closing, byPeer: true), limit: limit, streamHasEnded: false)
        case .closing(let ours, let limit) where canWrite:
            state = .closed(.closed(ours, byPeer: false), limit: limit, streamHasEnded: false)
        // What we may have wanted to say was never written.
        case .draining, .closing: state = .ended(.closed(closing, byPeer: true))
        case .closed, .failing, .discarding, .ended: break
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
