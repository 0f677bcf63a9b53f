internal import DunlinCache
internal import DunlinSemantics

extension LiveCall {
    /// Removes what the cache has for the call's last request, since its content was proven to be wrong: by a digest,
    /// or because it cannot be decoded. Otherwise it would be served until it is stale.
    package func forgetStored() async {
        guard let cache = session.configuration.cache else { return }
        // What was looked for, whatever interceptors around the exchange have sent.
        await cache.store.remove([CacheKey(request.head)], within: storeWait)
    }
}
