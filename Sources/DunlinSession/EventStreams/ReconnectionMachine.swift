/// Decides whether a stream of server-sent events is requested again, after which wait, and from which event on; and
/// whether a WebSocket is opened again, which is a stream without IDs.
///
/// Rules (WHATWG HTML, "server-sent events"):
/// 1. A stream that ends is requested again, and so is one that breaks, for the reasons that the retry policy names. A
///    response without content (204) ends it for good. So does any other response that is no stream of events, unless
///    the policy names its status.
/// 2. It must be safe to send the request again (see `RetryMachine`), also as redirects and interceptors have changed
///    it, and its body must be replayable. If not, the end of the response is the end of the stream; if the stream was
///    to end with a sentinel, it was cut short.
/// 3. A request that is not idempotent makes its server begin anew, unless the server has sent an ID to resume after.
///    So without an ID it is not sent again once an event was delivered, although the caller allows to repeat it; the
///    setting `beginsAnew` allows that too.
/// 4. A reconnection is free after a response that delivered an event, or that was open for as long as the policy's
///    longest wait; if the request is not idempotent, only after one with a new ID. All others count as failed
///    attempts, of which the policy limits the number in a row.
/// 5. The minimum wait is what the server last asked for, within the limits of the settings. A failed attempt adds the
///    policy's wait to it. A free reconnection adds the policy's first wait, unless the server asked for a wait.
/// 6. The request is sent after the last ID that counts. An ID that cannot be sent as a field is not used, and neither
///    is one of another origin, to which a redirect led: the events after the one before are then sent again.
/// 7. The machine reads no clock, takes no random number, and knows no budget.
struct ReconnectionMachine {
    /// How a response, or an attempt that got none, ended.
    enum End: Equatable {
        /// The body came to its end.
        case complete
        /// The response was a 204.
        case noContent
        case broken(RetryMachine.Outcome)
    }

    /// What a response has said of resuming. Nothing for an attempt that got none.
    struct Notes: Equatable {
        /// The last ID that counts; nil if the response is another origin's.
        var lastEventID: String?
        var retry: Duration?
        /// How long the response was read, in nanoseconds.
        var time: Int64 = 0
    }

    enum Action: Equatable {
        /// Send the request again after this many nanoseconds. `isFree`: no budget refuses it.
        case reconnect(after: Int64, isFree: Bool)
        /// The stream is over.
        case finish
        /// The end of the last attempt is the stream's; nil if another one was not considered.
        case fail(NetworkError.RetryRefusal?)
        /// The stream ended before its sentinel, and may not be requested again.
        case cutShort
    }

    private let settings: HTTPSession.EventSettings
    private let sentinel: String?
    private let policy: HTTPSession.RetryPolicy
    /// Whether all that was sent is idempotent.
    private var isIdempotent: Bool
    private var mayRepeat: Bool
    private let longestBackoff: Int64
    /// The rules for failed attempts, before the first one.
    private var unfailed: RetryMachine
    private var failures: RetryMachine
    /// The wait that the server asked for, in nanoseconds.
    private var retry: Int64?
    /// Whether the current attempt has delivered an event, and whether any has.
    private var hasDelivered = false
    private var hasEverDelivered = false
    /// Whether the server has sent an ID.
    private var hasID = false
    /// Whether the last attempt counts as none that failed.
    private(set) var hasSucceeded = false
    /// The ID after which the stream is requested; empty for none.
    private(set) var lastEventID: String
    /// The number of the current attempt.
    private(set) var attempt = 1

    /// Creates a machine. `hasKey`: the server can recognise a repetition by an idempotency key.
    init(
        _ settings: HTTPSession.EventSettings, _ policy: HTTPSession.RetryPolicy, until sentinel: String? = nil,
        after lastEventID: String = "", isIdempotent: Bool = true, hasKey: Bool = false
    ) {
        self.settings = settings
        self.sentinel = sentinel
        self.policy = policy
        self.isIdempotent = isIdempotent
        mayRepeat = isIdempotent || hasKey || settings.repeatsNonIdempotent || policy.retriesNonIdempotent
        longestBackoff = policy.cap.clampedNanoseconds
        unfailed = RetryMachine(policy, hasKey: mayRepeat)
        failures = unfailed
        self.lastEventID = lastEventID
    }

    /// Notes that what was sent may not be sent twice without harm, although the request may: a redirect's hook or an
    /// interceptor has changed it.
    mutating func sentUnrepeatable() {
        isIdempotent = false
        guard mayRepeat, !settings.repeatsNonIdempotent, !policy.retriesNonIdempotent else { return }
        mayRepeat = false
        unfailed = RetryMachine(policy, hasKey: false)
        failures = unfailed
    }

    /// Takes an event's data. Returns false if it is the sentinel, which ends the stream and is not delivered.
    mutating func received(_ data: String) -> Bool {
        if let sentinel, data.hasSameBytes(as: sentinel) { return false }
        (hasDelivered, hasEverDelivered) = (true, true)
        return true
    }

    /// The action at the end of a response, or of an attempt that got none.
    mutating func ended(_ end: End, _ notes: Notes = Notes(), _ now: RetryMachine.Circumstances) -> Action {
        var isResumed = isIdempotent
        if let id = notes.lastEventID, Self.isUsable(id) {
            if id != lastEventID { (hasID, isResumed) = (true, true) }
            lastEventID = id
        }
        if let wait = notes.retry { retry = wait.clampedNanoseconds }
        let isFree = isResumed && (hasDelivered || longestBackoff > 0 && notes.time >= longestBackoff)
        (hasDelivered, hasSucceeded) = (false, isFree)
        if isFree { failures = unfailed }
        switch end {
        case .noContent: return .finish
        case .complete:
            if !settings.reconnects || !mayRepeat || !now.canSendBody || refusesBeginning {
                return sentinel == nil ? .finish : .cutShort
            }
            return isFree ? reconnect(after: unfailed.backoff(now.chance), isFree: true) : failed(.emptyStream, now)
        case .broken(let outcome):
            if !settings.reconnects { return .fail(nil) }
            if refusesBeginning, now.canSendBody, failures.isCovered(outcome) { return .fail(.notResumable) }
            return failed(outcome, now, isFree: isFree)
        }
    }

    /// Whether the server would send again what was delivered.
    var beginsAnew: Bool { mayRepeat && !isIdempotent && hasEverDelivered && !hasID }

    /// Whether that is a reason not to ask it again.
    var refusesBeginning: Bool { beginsAnew && !settings.beginsAnew }

    /// The action after a failed attempt, which does not count if it `isFree`.
    private mutating func failed(
        _ outcome: RetryMachine.Outcome, _ now: RetryMachine.Circumstances, isFree: Bool = false
    ) -> Action {
        let action = failures.ended(outcome, now)
        if isFree { failures = unfailed }
        switch action {
        case .settle(let refusal): return .fail(refusal)
        case .retry(let wait, let isAsked): return reconnect(after: wait, isFree: isFree, isAsked: isAsked)
        }
    }

    private mutating func reconnect(after backoff: Int64, isFree: Bool, isAsked: Bool = false) -> Action {
        attempt += 1
        let added = isFree && retry != nil && !isAsked ? 0 : backoff
        return .reconnect(after: minimumWait.addingClamped(added), isFree: isFree || isAsked)
    }

    private var minimumWait: Int64 {
        let least = settings.minimumWait.clampedNanoseconds
        return max(least, min(retry ?? 0, settings.longestServerWait.clampedNanoseconds))
    }

    /// The most bytes of an ID that is sent. Servers accept about 8 KiB of fields in all.
    static let longestID = 1024

    /// Whether an ID can be sent as it is, as the value of a field.
    static func isUsable(_ id: String) -> Bool {
        let bytes = id.utf8
        return bytes.count <= longestID && bytes.first != 0x20 && bytes.last != 0x20
            && bytes.allSatisfy { $0 >= 0x20 && $0 != 0x7F }
    }
}

extension RetryMachine.Outcome {
    /// A stream that ended before its first event.
    static let emptyStream = RetryMachine.Outcome.failed(.connection, isSafe: true)
}
