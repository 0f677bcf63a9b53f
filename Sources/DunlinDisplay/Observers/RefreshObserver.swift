public import Dunlin

/// Something that shows that its contents are being fetched anew.
public protocol RefreshTarget: AnyObject, Sendable {
    /// Begins to show that. It may be called again. Must not wait.
    func beginRefreshing()
    /// Stops showing that. It may be called without a beginning. Must not wait.
    func endRefreshing()
}

/// Makes a target show that a task runs: it begins when the task is resumed, now or later, and ends when the task is
/// suspended or over.
///
/// It follows one task at a time: another task replaces the former. The target is not retained; after its release
/// nothing happens.
public final class RefreshObserver: Sendable {
    private let stateObserver: StateObserver

    public init(_ target: any RefreshTarget) {
        stateObserver = StateObserver { [weak target] isRunning in
            guard let target else { return false }
            if isRunning { target.beginRefreshing() } else { target.endRefreshing() }
            return true
        }
    }

    /// Follows a task. The target is told its state at once; a task that is over ends the display.
    public func follow<Output>(_ task: HTTPSession.RequestTask<Output>) async {
        await stateObserver.observe(task.activity, isRunning: task.isActive)
    }

    /// Stops following, and leaves the target as it is.
    public func unfollow() async {
        await stateObserver.observe(nil, isRunning: false)
    }
}
