/// Kept by everything that may still read a response that has left its scope. When the last of them is released, the
/// exchange ends.
package final class BodyOwner: Sendable {
    private let ending: @Sendable ((any Error)?) -> Void

    package init(_ ending: @escaping @Sendable ((any Error)?) -> Void) {
        self.ending = ending
    }

    deinit { ending(nil) }

    /// The body has been read as far as it could be: to its end, if there was no error. Calling it again has no effect.
    func end(_ error: (any Error)? = nil) {
        ending(error)
    }
}
