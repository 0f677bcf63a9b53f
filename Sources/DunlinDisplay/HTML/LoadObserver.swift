/// Told of the loads of an `HTMLDocumentLoader`: that each begins, and then how it ended, once. One after the other;
/// must not wait.
public protocol LoadObserver: AnyObject, Sendable {
    func started(_ load: HTMLLoad)
    func finished(_ load: HTMLLoad, with document: HTMLDocument)
    /// Also of a load that was cancelled, or that another took the place of: `NetworkError` code `cancelled`.
    func failed(_ load: HTMLLoad, with error: any Error)
}

/// What is not asked for is not told.
extension LoadObserver {
    public func started(_ load: HTMLLoad) {}
    public func finished(_ load: HTMLLoad, with document: HTMLDocument) {}
    public func failed(_ load: HTMLLoad, with error: any Error) {}
}
