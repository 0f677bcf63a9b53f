package import DunlinTypes

/// A request, as a cache sees it.
package struct CacheRequest: Sendable {
    /// Its fields select among variants. They are those that are known when the cache is asked: the jar's cookies are
    /// among them, and credentials that are added later are not.
    package private(set) var head: RequestHead
    /// Who asks, and under which terms.
    package private(set) var asker: CacheAsker
    package let mode: CacheMode
    /// Whether it bypasses the cache, as its URL and fields do not say everything: for example a GET with a body, or
    /// one for a user who is not known yet.
    package let bypassesCache: Bool
    /// Whether it is sent again after a failed answer, which a stored failure must not answer.
    package let isRetry: Bool
    /// The time, in seconds since 1970, before which nothing was asked for that may answer it.
    package private(set) var oldest = Int64.min
    package private(set) var key: CacheKey

    package init(
        _ head: RequestHead, by asker: CacheAsker? = nil, mode: CacheMode = .standard, bypassesCache: Bool = false,
        isRetry: Bool = false
    ) {
        self.head = head
        self.asker = asker ?? CacheAsker(fields: head.fields)
        self.mode = mode
        self.bypassesCache = bypassesCache
        self.isRetry = isRetry
        key = CacheKey(head)
    }

    /// Returns the request as one that nothing answers that was asked for earlier than this.
    package func answeredOnly(since oldest: Int64) -> CacheRequest {
        var request = self
        request.oldest = oldest
        return request
    }

    /// Returns the request under a name instead of its URL.
    package func named(_ key: CacheKey) -> CacheRequest {
        var request = self
        request.key = key
        return request
    }

    /// Returns the request as somebody else's.
    package func asked(by asker: CacheAsker) -> CacheRequest {
        var request = self
        request.asker = asker
        return request
    }

    /// Returns the request as its answer depends on it. A field that was added or changed on the way counts as sent, so
    /// that a request that would send another does not get this answer. Credentials count as they were when the cache
    /// was asked: a newer token is the same user's.
    func sent(with fields: Fields, answeredBy answer: ResponseHead) -> CacheRequest {
        guard case .names(let names) = VaryField(answer.fields) else { return self }
        let others = names.filter { $0 != "authorization" && !CacheSending.fieldNames.contains($0) }
        if others.isEmpty { return self }
        var request = self
        request.head.fields = head.fields.taking(others, from: fields)
        return request
    }
}
