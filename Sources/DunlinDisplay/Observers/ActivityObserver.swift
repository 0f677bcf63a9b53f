public import Dunlin

/// Something that moves while a task runs, such as a spinner.
public protocol ActivityTarget: AnyObject, Sendable {
    /// Starts moving. It may be called while moving. Must not wait.
    func startAnimating()
    /// Stops moving. It may be called while not moving. Must not wait.
    func stopAnimating()
}

/// Makes a target move while a task runs: it starts when the task is resumed, and stops when the task is suspended or
/// over.
///
/// It follows one task at a time: another task replaces the former. The target is not retained; after its release
/// nothing happens.
public final class ActivityObserver: Sendable {
    private let stateObserver: StateObserver

    public init(_ target: any ActivityTarget) {
        stateObserver = StateObserver { [weak target] isRunning in
            guard let target else { return false }
            if isRunning { target.startAnimating() } else { target.stopAnimating() }
            return true
        }
    }

    /// Follows a task. The target is told its state at once; a task that is over stops the target.
    public func follow<Output>(_ task: HTTPSession.RequestTask<Output>) async {
        await stateObserver.observe(task.activity, isRunning: task.isActive)
    }

    /// Stops following, and leaves the target as it is.
    public func unfollow() async {
        await stateObserver.observe(nil, isRunning: false)
    }
}
