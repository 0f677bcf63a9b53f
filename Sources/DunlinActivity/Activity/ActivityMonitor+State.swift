extension ActivityMonitor {
    public enum State: Sendable, Hashable, CaseIterable {
        /// Nothing is shown.
        case notActive
        /// There is work, which will be shown if it lasts.
        case delayingStart
        /// Work is shown.
        case active
        /// Work has ended and is still shown; it will be hidden if no more begins.
        case delayingEnd
    }

    public struct Delays: Sendable, Hashable {
        /// How long there must be work before it is shown.
        public var activation: Duration
        /// How long there must be no work before it is hidden.
        public var completion: Duration

        public init(activation: Duration = .seconds(1), completion: Duration = .milliseconds(170)) {
            self.activation = activation
            self.completion = completion
        }
    }
}
