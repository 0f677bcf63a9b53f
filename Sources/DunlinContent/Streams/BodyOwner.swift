/// The owner of a response that has left its scope. Everything that may still read the response retains it; when the
/// last reference is released, the exchange ends.
package final class BodyOwner: Sendable {
    private let ending: @Sendable ((any Error)?) -> Void

    package init(_ ending: @escaping @Sendable ((any Error)?) -> Void) {
        self.ending = ending
    }

    deinit { ending(nil) }

    /// Ends the exchange once the body has been read: to its end, unless there is an error. Further calls have no
    /// effect.
    func end(_ error: (any Error)? = nil) {
        ending(error)
    }
}
