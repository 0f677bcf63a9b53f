internal import DunlinTransport

extension CallPart {
    /// The hop with which the part's exchange ended when its Swift task was cancelled, since that error carries none;
    /// nil if it was reported before.
    package func takeUntoldHop() -> HTTP.Hop? { exchangeOptions?.control?.takeUntoldHop() }
}
