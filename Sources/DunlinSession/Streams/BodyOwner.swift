/// Held by all who may still read a response that has left its scope.
final class BodyOwner: Sendable {
    private let ending: @Sendable ((any Error)?) -> Void

    init(_ ending: @escaping @Sendable ((any Error)?) -> Void) {
        self.ending = ending
    }

    deinit { ending(nil) }

    /// It has been read as far as it could be: to its end, if there was no error. Harmless when it is said again.
    func end(_ error: (any Error)? = nil) {
        ending(error)
    }
}
