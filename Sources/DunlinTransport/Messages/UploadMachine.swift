internal import DunlinTypes

/// Decides about a request's body that is sent while its response is awaited and read: what may still be written, how
/// the sending ended, who is told, and which limit applies to the reader meanwhile.
///
/// Two sides use it concurrently: the sender, a child task that takes and writes the body, and the reader, which awaits
/// and reads the response and alone may stop the sender.
///
/// Rules:
/// 1. The outcome is set once, in the step that returns what to do about it. So whatever ends the reader's wait, the
///    reader can distinguish a peer's silence from a producer's failure.
/// 2. The sender is over only after its last use of the connection. Until then the connection may not serve another
///    request, and afterwards only if both messages were complete and the sending was not stopped (RFC 9112 §9.3).
/// 3. Only the reader ends the sending early: the server has answered, and would only discard the rest (RFC 9112 §9.5).
///    A later failure of the sender is ignored and leaves the connection to the reader, because the answer may still be
///    coming: the request counts as cut, or as complete if only its producer had not finished yet. No write begins
///    after a stop.
/// 4. A sender that is stopped before it has begun sends nothing, and after a stop none takes a body that can be sent
///    only once. So the request may then be sent elsewhere, with that body too.
/// 5. If the peer ended its side before it had everything, the request is cut, though the kernel would have taken the
///    rest: it is answered by a refusal or not at all (RFC 9112 §8).
/// 6. While there is more to send, the peer owes nothing, and only the total limit applies to the reader. The limit of
///    the first byte counts from the end of a complete request, that of silence from there or from the beginning of the
///    wait, whichever is later. The reader asks before each wait, and is woken to ask again if the end comes meanwhile,
///    so it does not matter how late it is woken.
///
/// What ends the sending, and what is done about it:
///
/// | the end | the reader waits meanwhile | nobody stopped it | the reader stopped it |
/// |---|---|---|---|
/// | complete | yes | complete: wake the reader | |
/// | complete | no | complete | complete |
/// | the peer was gone | for the end | cut: wake the reader | |
/// | the peer was gone | otherwise | cut | cut |
/// | a failure | either | failed: close the connection | cut, or complete if all was written |
///
/// It must know neither channels nor clocks, and not how a body is framed.
struct UploadMachine: Sendable {
    enum Outcome: Sendable {
        case complete
        /// The peer answered or was gone before it had everything. `byReset`: it reset the connection, and the kernel
        /// told the sender instead of the reader.
        case cut(byReset: Bool)
        case failed(any Error)
    }

    enum Action: Equatable {
        case none
        /// Take the body and send it.
        case send
        /// Wake the reader: the purpose of its wait has changed.
        case wakeReader
        /// Close the connection, which also ends the reader's wait.
        case close
        /// End the sender's wait for room, and have its scope cancel it.
        case cancel
        /// Tell the reader that the sender is over, and the scope too, unless it has been told to cancel.
        case tellEnd(scopeToo: Bool)
    }

    /// The purpose of a reader's wait, and when that phase's limit begins. In `send` there is no limit.
    struct Wait: Equatable {
        var phase: HTTP.Phase
        var since: HTTP.Instant
    }

    private enum Sender {
        /// Its task has not begun.
        case waiting
        /// `all`: everything that was announced is written, and only the producer has not finished yet.
        case sending(all: Bool)
        /// It writes nothing more, and may still act on the connection. The time is nil if it never began.
        case ended(Outcome, at: HTTP.Instant?)
        case over(Outcome, at: HTTP.Instant?)
    }

    private enum Reader {
        case elsewhere
        /// The reader waits for input, which the peer does not owe before the end of the request.
        case waiting
        /// The whole response has come, and the reader waits only for the end of the request.
        case awaitingEnd
        /// The reader has stopped the sender.
        case stopped
    }

    private enum Answer {
        case none
        /// The head of the response came before the request had been sent completely.
        case early(ResponseHead)
        case late(ResponseHead)
    }

    private var sender = Sender.waiting
    private var reader = Reader.elsewhere
    private var answer = Answer.none
    /// The number of bytes of the request that were written, including its head.
    private(set) var bytesSent: Int
    /// The number of those that are its body, without framing.
    private(set) var bodyBytesSent = 0
    /// Whether the peer may have a byte of the request. Anything that it sends before is no answer.
    private(set) var hasBegun: Bool
    private var isWriting = false
    /// Whether the sender waited for its producer when the reader stopped it.
    private var lackedBody = false

    /// Creates a machine; `sent` is the number of bytes of the head that were sent before.
    init(after sent: Int) {
        bytesSent = sent
        hasBegun = sent > 0
    }
}

// MARK: - The sender

extension UploadMachine {
    mutating func begin() -> Action {
        guard case .waiting = sender else { return .none }
        if isStopped {
            sender = .ended(.cut(byReset: false), at: nil)
            return .none
        }
        sender = .sending(all: false)
        return .send
    }

    /// Whether the sender may write, and continue to ask its producer.
    var mayWrite: Bool {
        if case .sending = sender { !isStopped } else { false }
    }

    /// Whether the sender may write; it does so then, until `wrote`.
    mutating func mayBeginWriting() -> Bool {
        isWriting = mayWrite
        return isWriting
    }

    /// Notes that the first byte is about to be written.
    mutating func beginWriting() {
        hasBegun = true
    }

    /// Notes how many bytes of the request have been written.
    mutating func wrote(upTo count: Int, ofBody body: Int = 0) {
        (bytesSent, bodyBytesSent) = (count, body)
        isWriting = false
    }

    /// Notes that everything that was announced has been written.
    mutating func wroteAll() {
        if case .sending = sender { sender = .sending(all: true) }
    }

    mutating func end(_ outcome: Outcome, at now: HTTP.Instant) -> Action {
        guard case .sending(let all) = sender else { return .none }
        switch outcome {
        case .failed where isStopped:
            sender = .ended(all ? .complete : .cut(byReset: false), at: now)
            return .none
        case .failed:
            sender = .ended(outcome, at: now)
            return .close
        case .complete:
            sender = .ended(outcome, at: now)
            return reader == .waiting || reader == .awaitingEnd ? .wakeReader : .none
        case .cut:
            sender = .ended(outcome, at: now)
            return reader == .awaitingEnd ? .wakeReader : .none
        }
    }

    /// Notes that the sender has done all its work.
    mutating func leave() -> Action {
        guard case .ended(let outcome, let time) = sender else { return .none }
        sender = .over(outcome, at: time)
        return .tellEnd(scopeToo: !isStopped)
    }
}

// MARK: - The reader

extension UploadMachine {
    /// The purpose of the reader's next wait for input.
    mutating func wait(from start: HTTP.Instant) -> Wait {
        if isUnderway, !isStopped {
            reader = .waiting
            return Wait(phase: .send, since: start)
        }
        if !isStopped { reader = .elsewhere }
        switch answer {
        case .early, .late: return Wait(phase: .receive, since: max(start, ended ?? start))
        case .none where isComplete: return Wait(phase: .firstByte, since: ended ?? start)
        // The peer is gone, so the wait ends soon.
        case .none: return Wait(phase: .send, since: start)
        }
    }

    /// Notes that the head of the response has come.
    mutating func answered(_ head: ResponseHead) {
        answer = isComplete ? .late(head) : .early(head)
        if !isStopped { reader = .elsewhere }
    }

    /// Notes that the whole response has come. Returns whether there is an end of the sending to wait for, which will
    /// wake the reader.
    mutating func awaitEnd() -> Bool {
        if !isStopped { reader = isUnderway ? .awaitingEnd : .elsewhere }
        return isUnderway
    }

    /// Ends the sending.
    mutating func stop() -> Action {
        if isStopped { return .none }
        lackedBody = lacksBody
        reader = .stopped
        return isOver ? .none : .cancel
    }

    /// Notes that not all bytes that the kernel took reached the peer.
    mutating func noteCut() {
        guard case .over(.complete, let time) = sender else { return }
        sender = .over(.cut(byReset: false), at: time)
    }

    /// Whether nothing has to be awaited before the response's end, which may also be the connection's.
    func isSettled(endingConnection: Bool) -> Bool {
        if isStopped { return true }
        return isComplete && isOver && !(isAnsweredEarly && endingConnection)
    }
}

// MARK: - What is known

extension UploadMachine {
    /// The outcome; nil while the upload runs.
    var outcome: Outcome? {
        switch sender {
        case .waiting, .sending: nil
        case .ended(let outcome, _), .over(let outcome, _): outcome
        }
    }

    /// When the outcome was set; nil if there is none, or if nothing was begun.
    var ended: HTTP.Instant? {
        switch sender {
        case .waiting, .sending: nil
        case .ended(_, let time), .over(_, let time): time
        }
    }

    var isUnderway: Bool { outcome == nil }

    var isOver: Bool {
        if case .over = sender { true } else { false }
    }

    var isComplete: Bool {
        if case .complete? = outcome { true } else { false }
    }

    var wasReset: Bool {
        if case .cut(byReset: true)? = outcome { true } else { false }
    }

    var isStopped: Bool { reader == .stopped }

    /// Whether it is not the peer but the producer that keeps the sender from going on: now, or when it was stopped.
    var lacksBody: Bool {
        if isStopped { return lackedBody }
        return if case .sending = sender { !isWriting } else { false }
    }

    /// Whether the peer may have something of the request.
    var mayHaveSent: Bool {
        if case .sending = sender { return true }
        return bytesSent > 0
    }

    /// Whether the connection may serve another request, as far as this one is concerned.
    var mayReuse: Bool { isComplete && isOver && !isStopped }

    /// The head of the response; nil before it has come.
    var head: ResponseHead? {
        switch answer {
        case .none: nil
        case .early(let head), .late(let head): head
        }
    }

    var isAnsweredEarly: Bool {
        if case .early = answer { true } else { false }
    }
}
