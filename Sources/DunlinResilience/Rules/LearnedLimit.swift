/// What a server said of its limit. What it did not say is nil.
package struct LearnedLimit: Sendable, Equatable {
    /// How many requests it allows in each window.
    package var quota: Int?
    package var window: Duration?
    /// How many it still allows until the reset, which is so far away.
    package var remaining: Int?
    package var reset: Duration?
    /// How long it asks to be left alone.
    package var silence: Duration?

    package init(
        quota: Int? = nil, window: Duration? = nil, remaining: Int? = nil, reset: Duration? = nil,
        silence: Duration? = nil
    ) {
        self.quota = quota
        self.window = window
        self.remaining = remaining
        self.reset = reset
        self.silence = silence
    }
}
