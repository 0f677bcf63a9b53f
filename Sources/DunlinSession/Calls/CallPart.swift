package import DunlinReactor
internal import DunlinTransport

/// One of several exchanges of a call. It is cancelled with the call or alone, and has its own position in queues; its
/// observers see it as the call.
package struct CallPart: Sendable {
    package let cancellation: Cancellation
    /// The options of this exchange; everything else is the call's.
    let exchangeOptions: ExchangeOptions?
    /// Its number among several at the same time; nil for the only one or the first.
    package let number: Int?

    /// Creates a part for what an interceptor sends: it is seen as the call, or as the call's current part.
    init(of call: Sending) {
        cancellation = Cancellation(partOf: call.cancellation, isFirst: true)
        exchangeOptions = call.part?.exchangeOptions ?? call.delegate.settings?.exchangeOptions
        number = call.part?.number
    }

    /// Creates a part. The phase of the first part is the phase of the call.
    package init(of delegate: TaskDelegate, isFirst: Bool = false, number: Int? = nil) {
        self.number = number
        cancellation = Cancellation(partOf: delegate.cancellation, isFirst: isFirst)
        let control = delegate.observers.map { TransferControl(partOf: $0.control) }
        let whole = delegate.settings?.exchangeOptions
        exchangeOptions = ExchangeOptions(
            tlsPolicySource: whole?.tlsPolicySource, control: control, connectionRules: whole?.connectionRules)
    }
}
