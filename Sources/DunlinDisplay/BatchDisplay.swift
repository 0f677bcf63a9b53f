public import Dunlin

/// A bar for a batch: how many of its requests are over, how many of them failed, and what they brought.
///
/// ```swift
/// BatchDisplay("albums").follow(batch)
/// ```
///
/// It follows one batch at a time, and shows the last of it when it is over; it need not be held on to.
public final class BatchDisplay: Sendable {
    private let name: String
    private let display: TerminalDisplay
    private let id: UInt64

    /// Whatever the name is, it is shown as text.
    public init(_ name: String, on display: TerminalDisplay = .standardError) {
        self.name = ShownText.of(name)
        self.display = display
        id = display.update { $0.newID() }
    }

    /// Shows this batch from now on, instead of any other. One that is over is shown as it ended.
    public func follow<Output>(_ batch: HTTPSession.Batch<Output>) {
        let progress = batch.progress
        let look: TerminalDisplay.Look = { [name] line in
            line = .batch(BatchLine(name: name, progress: batch.state))
        }
        display.follow(id, .batch(BatchLine(name: name)), look) { binding in
            // Ends with the batch, and keeps nothing of it.
            Task.detached { [id, name, weak display] in
                for await step in progress {
                    let line = DisplayLine.batch(BatchLine(name: name, progress: step))
                    display?.update { _ = $0.change(id, of: binding) { $0 = line } }
                }
                if !Task.isCancelled { display?.release(id, binding) }
            }
        }
    }
}
