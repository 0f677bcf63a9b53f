public import DunlinTypes

/// Something that the loop looks at when a time has come.
public protocol Timed: AnyObject, Sendable {
    /// Called on the loop's thread. Returns when to be looked at again, `.never` for not.
    func deadlinePassed(at now: HTTP.Instant) -> HTTP.Instant
}
