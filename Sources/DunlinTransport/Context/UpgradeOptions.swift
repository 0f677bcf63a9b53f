package import DunlinTypes

/// How an exchange that offers another protocol uses its connection, once that is spoken.
package struct UpgradeOptions: Sendable, Hashable {
    /// How long a read or a write may wait for the peer; nil for no limit.
    package var silence: Duration?

    /// Fields that differ from sending to sending; nil for none.
    package var sendingFields: SendingFields?

    package init(silence: Duration? = nil) {
        self.silence = silence
    }

    /// The request with the fields of another sending.
    package func renewed(_ request: TransportRequest) -> TransportRequest {
        guard let sendingFields else { return request }
        return request.with { $0.head.fields = $0.head.fields.overlaid(with: sendingFields.make()) }
    }
}

/// Makes fields for each sending of a request, which replace those with the same name.
package final class SendingFields: Sendable, Hashable {
    fileprivate let make: @Sendable () -> Fields

    package init(_ make: @escaping @Sendable () -> Fields) {
        self.make = make
    }

    package static func == (left: SendingFields, right: SendingFields) -> Bool { left === right }

    package func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(self)) }
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
