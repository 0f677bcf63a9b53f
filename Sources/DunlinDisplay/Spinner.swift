public import Dunlin

/// A line that turns while something goes on, and leaves nothing behind. Use it with an `ActivityObserver`, an
/// `ActivityMonitor`, or by hand. It stops when it is released.
public final class Spinner: ActivityTarget, RefreshTarget, ActivityMonitor.Display {
    private let label: String
    private let display: TerminalDisplay
    private let id: UInt64

    public init(_ label: String = "", on display: TerminalDisplay = .standardError) {
        self.label = ShownText.of(label)
        self.display = display
        id = display.update { $0.newID() }
    }

    deinit {
        stop()
    }

    /// Starts the spinner. Calling it again has no effect.
    public func start() {
        display.update { [id, label] in if !$0.has(id) { _ = $0.bind(id, .spinner(label)) } }
    }

    /// Stops the spinner. Calling it again has no effect.
    public func stop() {
        display.update { [id] in $0.remove(id) }
    }

    public func startAnimating() { start() }
    public func stopAnimating() { stop() }
    public func beginRefreshing() { start() }
    public func endRefreshing() { stop() }
    public func activityChanged(to isActive: Bool) { isActive ? start() : stop() }
}
