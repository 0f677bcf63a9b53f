package import DunlinTypes

/// Decides whether a hop that failed because of its connection is sent once more.
///
/// Rules:
/// 1. A hop is sent again without a retry policy only if a reused connection turned out to be closed before any byte of
///    the response came: the server closed it during the write. This happens once for a hop, and only if the body is
///    replayable (one that is not may have been started) and either nothing was sent or the method is idempotent (RFC
///    9110 §9.2.2). The hop uses a new connection, since others that were idle as long may be closed too.
/// 2. A server that does not support `Expect` answers 417. The request is sent once more without it (RFC 9110
///    §15.5.18), if the body can still be sent.
package struct ResendMachine {
    package enum Action: Equatable {
        case pass
        case sendOnFreshConnection
        case sendWithoutExpectation
    }

    private var hasReplayed = false
    private var hasDroppedExpectation = false

    package init() {}

    /// The action for a response. `isExpecting`: the request has an `Expect` field. `canBeSent`: its body can be sent
    /// now.
    package mutating func received(_ status: HTTP.Status, isExpecting: Bool, canBeSent: Bool) -> Action {
        guard status == 417, isExpecting, canBeSent, !hasDroppedExpectation else { return .pass }
        hasDroppedExpectation = true
        return .sendWithoutExpectation
    }

    package mutating func failed(_ error: any Error, isReplayable: Bool) -> Action {
        guard let error = error as? NetworkError, error.code == .connectionClosed, error.connectionWasReused,
            error.isSafeToRetry, !error.isDecided, isReplayable, !hasReplayed
        else { return .pass }
        hasReplayed = true
        return .sendOnFreshConnection
    }
}
