public import Dunlin

/// Something that moves while a task runs.
public protocol ActivityTarget: AnyObject, Sendable {
    /// May be called when it moves already. Must not wait.
    func startAnimating()
    /// May be called when it does not move. Must not wait.
    func stopAnimating()
}

/// Has a target move while a task runs: it starts when the task is resumed, and stops when that is suspended or over.
///
/// One task at a time: following another takes the place of the former, which moves nothing any more. The target is
/// not kept; when it is gone, nothing happens.
public final class ActivityObserver: Sendable {
    private let follower: StateFollower

    public init(_ target: any ActivityTarget) {
        follower = StateFollower { [weak target] isRunning in
            guard let target else { return false }
            if isRunning { target.startAnimating() } else { target.stopAnimating() }
            return true
        }
    }

    /// The target is told at once how the task stands: one that is over stops it.
    public func follow<Output>(_ task: HTTPSession.RequestTask<Output>) async {
        await follower.follow(task.activity, isRunning: task.isActive)
    }

    /// Follows no task any more, and leaves the target as it is.
    public func unfollow() async {
        await follower.follow(nil, isRunning: false)
    }
}
