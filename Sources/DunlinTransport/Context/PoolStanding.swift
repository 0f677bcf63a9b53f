/// What a request does where all connections that the caps allow are in use.
enum PoolStanding: Sendable {
    /// It waits.
    case waits
    /// It opens one beyond the caps, and is refused if there are too many: a wait for its own callers would not end.
    case exceeds
    /// It opens one beyond the caps, and waits if there are too many, since its wait has a limit.
    case exceedsOrWaits
}
