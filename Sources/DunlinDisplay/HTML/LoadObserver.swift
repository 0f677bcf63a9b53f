/// An observer of an `HTMLDocumentLoader`'s loads. It is told that each begins, and then, once, how it ended, one call
/// after another. It must not wait.
public protocol LoadObserver: AnyObject, Sendable {
    func started(_ load: HTMLLoad)
    func finished(_ load: HTMLLoad, with document: HTMLDocument)
    /// Called for failed loads, including those that were cancelled or replaced: `NetworkError` code `cancelled`.
    func failed(_ load: HTMLLoad, with error: any Error)
}

/// Methods that are not implemented do nothing.
extension LoadObserver {
    public func started(_ load: HTMLLoad) {}
    public func finished(_ load: HTMLLoad, with document: HTMLDocument) {}
    public func failed(_ load: HTMLLoad, with error: any Error) {}
}
