/// Why a request may not wait for its turn.
package struct RateRefusal: Sendable, Equatable {
    package enum Kind: Sendable {
        case tooManyWaiting
        /// Its turn would come after its deadline.
        case pastDeadline
        /// Its turn would come later than one may wait.
        case tooLong
    }

    package var kind: Kind
    /// Whether it is the server's limit that it would wait for.
    package var isServers: Bool

    package init(_ kind: Kind, isServers: Bool) {
        self.kind = kind
        self.isServers = isServers
    }
}
