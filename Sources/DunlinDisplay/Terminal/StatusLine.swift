internal import Synchronization

/// A line of the program's own on a `TerminalDisplay`, until it is removed or let go of.
public final class StatusLine: Sendable {
    private let display: TerminalDisplay
    private let id: UInt64

    init(_ text: String, on display: TerminalDisplay) {
        self.display = display
        let line = DisplayLine.status(ShownText.of(text))
        id = display.update { $0.add(line) }
    }

    deinit {
        remove()
    }

    /// What it says from now on. Controls are left out, and what does not fit is cut off.
    public func show(_ text: String) {
        let line = DisplayLine.status(ShownText.of(text))
        display.update { [id] in _ = $0.change(id) { $0 = line } }
    }

    /// Calling it again is harmless.
    public func remove() {
        display.update { [id] in $0.remove(id) }
    }
}
