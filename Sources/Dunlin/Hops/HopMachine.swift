internal import DunlinSemantics

/// What comes after each hop of a request: send it (again), deliver what came, or fail.
///
/// Rules:
/// 1. A request is sent again by itself only when a reused connection turned out to be closed before a byte of the
///    response came: the server was hanging up as we wrote. Once a hop, and only if the body can be sent any number of
///    times (one that can be sent once may be about to begin) and either nothing was sent or the method is idempotent
///    (RFC 9110 §9.2.2). It goes to a new connection, since those that have been idle as long may be as dead.
/// 2. A server that does not know what `Expect` means answers 417. The request is sent once more without it
///    (RFC 9110 §15.5.18), if the body can be sent: one that can be sent once may have been begun.
/// 3. A redirect is handed to `RedirectMachine`, which knows where it leads, and whether to follow.
/// 4. What failed for want of a network is `ConnectivityMachine`'s business, where a request is to wait for one.
/// 5. What is tried again by a policy is `RetryMachine`'s business, and begins with a machine anew each time.
/// 6. Authentication and the cache are further reasons for `send` and `deliver`; they belong here and nowhere else.
struct HopMachine {
    enum Action: Equatable {
        case send
        case sendWithoutExpectation
        case redirect
        case deliver
        case fail
    }

    private var replays = 0
    private var hasDroppedExpectation = false

    /// `isExpecting`: the request that was answered has an `Expect` field. `canBeSent`: its body can, from now on.
    mutating func received(_ status: Status, isExpecting: Bool, canBeSent: Bool) -> Action {
        if RedirectRules.isRedirect(status) { return .redirect }
        guard status == 417, isExpecting, canBeSent, !hasDroppedExpectation else { return .deliver }
        hasDroppedExpectation = true
        return .sendWithoutExpectation
    }

    @inline(never)
    mutating func failed(_ error: any Error, isReplayable: Bool) -> Action {
        guard let error = error as? NetworkError, error.code == .connectionClosed, error.connectionWasReused,
            error.isSafeToRetry, isReplayable, replays == 0
        else { return .fail }
        replays += 1
        return .send
    }

    /// A redirect is followed: what goes there is another request.
    mutating func redirected() {
        replays = 0
    }
}

extension HopMachine {
    @inline(__always)
    mutating func received(_ status: Status, for request: TransportRequest) -> Action {
        status < 300 ? .deliver : unusual(status, request)
    }

    /// Fields are looked through for nobody else.
    @inline(never)
    private mutating func unusual(_ status: Status, _ request: TransportRequest) -> Action {
        let isExpecting = request.head.fields.contains("expect")
        return received(status, isExpecting: isExpecting, canBeSent: request.body.canBeSent)
    }
}
