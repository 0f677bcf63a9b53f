/// What a request does where all connections that the caps allow are in use.
package enum PoolStanding: Sendable {
    /// It waits.
    case waits
    /// It opens one beyond the caps, and is refused if there are too many: it may not wait.
    case exceeds
    /// It opens one beyond the caps, and waits if there are too many: nothing need wait for it.
    case exceedsOrWaits
}
