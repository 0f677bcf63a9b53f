package import DunlinReactor
internal import DunlinTransport

/// One of several exchanges of a request: stopped with it, or alone. It stands in line for itself, and what it does is
/// told as the request's.
package struct CallPart: Sendable {
    package let cancellation: Cancellation
    /// Those that attend this exchange; all else is the request's.
    let exchangeOptions: ExchangeOptions?

    /// What the first part waits for is what the request waits for.
    package init(of delegate: TaskDelegate, isFirst: Bool = false) {
        cancellation = Cancellation(partOf: delegate.cancellation, isFirst: isFirst)
        let control = delegate.observers.map { TransferControl(partOf: $0.control) }
        exchangeOptions = ExchangeOptions(
            tlsPolicySource: delegate.settings?.exchangeOptions?.tlsPolicySource, control: control)
    }
}
