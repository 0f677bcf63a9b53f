public import Dunlin

/// Something that shows that what is on display is being fetched anew.
public protocol RefreshTarget: AnyObject, Sendable {
    /// May be called when it has begun already. Must not wait.
    func beginRefreshing()
    /// May be called when it has not begun. Must not wait.
    func endRefreshing()
}

/// Has a target show that a task runs: it begins when the task is resumed, also later than it is followed, and ends
/// when that is suspended or over.
///
/// One task at a time: following another takes the place of the former, which changes nothing any more. The target is
/// not kept; when it is gone, nothing happens.
public final class RefreshObserver: Sendable {
    private let follower: StateFollower

    public init(_ target: any RefreshTarget) {
        follower = StateFollower { [weak target] isRunning in
            guard let target else { return false }
            if isRunning { target.beginRefreshing() } else { target.endRefreshing() }
            return true
        }
    }

    /// The target is told at once how the task stands: one that is over ends it.
    public func follow<Output>(_ task: HTTPSession.RequestTask<Output>) async {
        await follower.follow(task.activity, isRunning: task.isActive)
    }

    /// Follows no task any more, and leaves the target as it is.
    public func unfollow() async {
        await follower.follow(nil, isRunning: false)
    }
}
