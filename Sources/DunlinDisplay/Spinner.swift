public import Dunlin

/// A line that turns while something goes on, and leaves nothing behind. For an `ActivityObserver`, an
/// `ActivityMonitor`, or by hand. One that is let go of stops.
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

    /// Calling it again is harmless.
    public func start() {
        display.update { [id, label] in if !$0.has(id) { _ = $0.bind(id, .spinner(label)) } }
    }

    /// Calling it again is harmless.
    public func stop() {
        display.update { [id] in $0.remove(id) }
    }

    public func startAnimating() { start() }
    public func stopAnimating() { stop() }
    public func beginRefreshing() { start() }
    public func endRefreshing() { stop() }
    public func activityChanged(to isActive: Bool) { isActive ? start() : stop() }
}
