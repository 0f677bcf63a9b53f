public import Dunlin

/// A progress bar for a batch: how many of its requests are over, how many failed, and how much they brought.
///
/// ```swift
/// BatchDisplay("albums").follow(batch)
/// ```
///
/// It follows one batch at a time, and shows its final state when it is over. It need not be retained.
public final class BatchDisplay: Sendable {
    private let name: String
    private let display: TerminalDisplay
    private let id: UInt64

    /// Creates a display. The name is shown as plain text, whatever it contains.
    public init(_ name: String, on display: TerminalDisplay = .standardError) {
        self.name = ShownText.of(name)
        self.display = display
        id = display.update { $0.newID() }
    }

    /// Shows this batch from now on instead of another. A batch that is over is shown in its final state.
    public func follow<Output>(_ batch: HTTPSession.Batch<Output>) {
        let progress = batch.progress
        let look: TerminalDisplay.Look = { [name] line in
            line = .batch(BatchLine(name: name, progress: batch.state))
        }
        display.observe(id, .batch(BatchLine(name: name)), look) { binding in
            // The task ends with the batch, and retains nothing of it.
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
