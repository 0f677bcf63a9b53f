/// A line for several transfers together, which stays in view however many lines there are: how many are over, how many
/// failed, how much has come, and how fast.
package final class TotalDisplay: Sendable {
    private let name: String
    private let display: TerminalDisplay
    private let id: UInt64

    package init(_ name: String, on display: TerminalDisplay) {
        (self.name, self.display) = (ShownText.of(name), display)
        id = display.update { $0.newID() }
    }

    package func show(_ sum: TransferSum) {
        let line = DisplayLine.batch(BatchLine(name: name, sum))
        display.update { [id] machine in
            if !machine.change(id, { $0 = line }) { _ = machine.bind(id, line) }
        }
    }
}
