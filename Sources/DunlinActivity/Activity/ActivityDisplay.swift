/// Something that shows whether work goes on: a spinner, a log line, a gauge.
public protocol ActivityDisplay: Sendable {
    /// Told of every change, one after the other. Must not wait.
    func activityChanged(to isActive: Bool)
}

struct ActivityClosure: ActivityDisplay {
    let change: @Sendable (Bool) -> Void

    func activityChanged(to isActive: Bool) { change(isActive) }
}
