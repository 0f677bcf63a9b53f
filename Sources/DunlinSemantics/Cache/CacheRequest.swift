package import DunlinTypes

/// A request, as a cache sees it.
package struct CacheRequest: Sendable {
    /// Its fields select among variants: a field that is added after the cache was asked selects nothing.
    package let head: RequestHead
    package let mode: CacheMode
    /// A GET with a body asks for more than its URL says, so it passes the cache by.
    package let hasBody: Bool
    package let key: CacheKey

    package init(_ head: RequestHead, mode: CacheMode = .standard, hasBody: Bool = false) {
        self.head = head
        self.mode = mode
        self.hasBody = hasBody
        key = CacheKey(origin: head.origin, target: head.target)
    }
}
