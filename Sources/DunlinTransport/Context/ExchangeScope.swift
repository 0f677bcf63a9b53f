package import DunlinReactor
package import DunlinTypes
package import DunlinWire
internal import Synchronization

/// What a session tells a custom transport about a call, so that the exchange observes the same limits.
package struct ExchangeScope: Sendable {
    /// The scope of the call in whose exchange the current task runs.
    @TaskLocal package static var present: ExchangeScope?

    /// The loop whose time the limits use.
    let loop: Reactor
    let control: TransferControl?
    let limits: WireLimits
    /// How the connection of a request that offers another protocol is used; nil for one that offers none.
    let upgrade: UpgradeOptions?
    /// The names that are secret for the session.
    let secretFields: HTTP.SecretFields
    private let last = Last()

    /// The state of the exchange that failed last.
    private final class Last: Sendable {
        let hop = Mutex<HTTP.Hop?>(nil)
    }

    package init(
        on loop: Reactor, _ control: TransferControl? = nil, limits: WireLimits = WireLimits(),
        upgrade: UpgradeOptions? = nil, hiding secretFields: HTTP.SecretFields = .usual
    ) {
        self.secretFields = secretFields
        self.upgrade = upgrade
        self.loop = loop
        self.control = control
        self.limits = limits
    }

    func note(_ hop: HTTP.Hop) { last.hop.withLock { $0 = hop } }

    /// The error with that hop, if it has none. When a call is over, the exchange that it ends is awaited, and its
    /// error discarded.
    package func explained(_ error: any Error) -> any Error {
        guard var failure = error as? NetworkError, failure.hop == nil else { return error }
        failure.hop = last.hop.withLock { $0 }
        return failure
    }
}
