internal import Synchronization

/// A program's own line on a `TerminalDisplay`, until it is removed or released.
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

    /// Sets the text. Control characters are left out, and what does not fit is cut off.
    public func show(_ text: String) {
        let line = DisplayLine.status(ShownText.of(text))
        display.update { [id] in _ = $0.change(id) { $0 = line } }
    }

    /// Removes the line. Calling it again has no effect.
    public func remove() {
        display.update { [id] in $0.remove(id) }
    }
}
