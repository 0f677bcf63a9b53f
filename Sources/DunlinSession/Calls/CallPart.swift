package import DunlinReactor
internal import DunlinTransport

/// One of several exchanges of a request: stopped with it, or alone. It stands in line for itself, and what it does is
/// told as the request's.
package struct CallPart: Sendable {
    package let interrupt: Interrupt
    /// Those that attend this exchange; all else is the request's.
    let attendants: Attendants?

    /// What the first part waits for is what the request waits for.
    package init(of delegate: TaskDelegate, isFirst: Bool = false) {
        interrupt = Interrupt(partOf: delegate.interrupt, isFirst: isFirst)
        let watch = delegate.audience.map { TransferWatch(partOf: $0.watch) }
        attendants = Attendants(advisor: delegate.settings?.attendants?.advisor, watch: watch)
    }
}
