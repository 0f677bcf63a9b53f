package import DunlinTypes

/// Decides whether a hop that went wrong between the two ends of a connection is sent once more.
///
/// Rules:
/// 1. A hop is sent again without a retry policy only when a reused connection turned out to be closed before a byte of
///    the response came: the server closed it as we wrote. This happens once a hop, and only if the body can be sent
///    any number of times (one that can be sent once may have begun) and either nothing was sent or the method is
///    idempotent (RFC 9110 §9.2.2). The hop goes to a new connection, since others that have been idle as long may be
///    closed too.
/// 2. A server that does not know what `Expect` means answers 417. The request is sent once more without it
///    (RFC 9110 §15.5.18), if the body can be sent: one that can be sent once may have been begun.
package struct ResendMachine {
    package enum Action: Equatable {
        case pass
        case sendOnFreshConnection
        case sendWithoutExpectation
    }

    private var replays = 0
    private var hasDroppedExpectation = false

    package init() {}

    /// `isExpecting`: the request that was answered has an `Expect` field. `canBeSent`: its body can be sent now.
    package mutating func received(_ status: HTTP.Status, isExpecting: Bool, canBeSent: Bool) -> Action {
        guard status == 417, isExpecting, canBeSent, !hasDroppedExpectation else { return .pass }
        hasDroppedExpectation = true
        return .sendWithoutExpectation
    }

    package mutating func failed(_ error: any Error, isReplayable: Bool) -> Action {
        guard let error = error as? NetworkError, error.code == .connectionClosed, error.connectionWasReused,
            error.isSafeToRetry, !error.isDecided, isReplayable, replays == 0
        else { return .pass }
        replays += 1
        return .sendOnFreshConnection
    }

    /// The call asks for another request from now on.
    package mutating func movedOn() {
        replays = 0
    }
}
