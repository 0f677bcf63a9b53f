package import DunlinReactor
package import DunlinWire

/// What a session says of a call to a transport that is not its own, by which the exchange is held to the same limits.
package struct ExchangeScope: Sendable {
    /// That of the call in whose exchange the present task runs.
    @TaskLocal package static var present: ExchangeScope?

    /// Whose time the limits count in.
    let loop: Reactor
    let control: TransferControl?
    let limits: WireLimits

    package init(on loop: Reactor, _ control: TransferControl? = nil, limits: WireLimits = WireLimits()) {
        self.loop = loop
        self.control = control
        self.limits = limits
    }
}
