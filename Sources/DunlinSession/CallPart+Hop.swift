internal import DunlinTransport

extension CallPart {
    /// The hop that the part's exchange ended with when its Swift task was cancelled, whose error carries none; nil if
    /// that was told before.
    package func takeUntoldHop() -> HTTP.Hop? { exchangeOptions?.control?.takeUntoldHop() }
}
