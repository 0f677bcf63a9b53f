internal import DunlinTypes

/// How an exchange that offers another protocol uses its connection, once that is spoken.
package struct UpgradeOptions: Sendable, Hashable {
    /// How long a read or a write may wait for the peer; nil for no limit.
    package var silence: Duration?

    package init(silence: Duration? = nil) {
        self.silence = silence
    }
}

extension ExchangeContext {
    /// The context of the connection after a 101: the limits of the request have been met, and only that of silence
    /// applies.
    func upgraded() -> ExchangeContext {
        let silence = upgrade?.silence
        let request = request.with { changes in
            changes.body = .none
            changes.deadline = .never
            changes.timeouts = Timeouts(
                pool: nil, resolve: nil, connect: nil, proxyTLS: nil, tunnel: nil, tls: nil, send: silence,
                firstByte: nil, readIdle: silence, total: nil)
        }
        return ExchangeContext(
            request, cancellation, terms, exchangeOptions, observer, under: connectionTerms, since: started,
            on: clock.reactor)
    }
}
