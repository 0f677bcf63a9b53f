internal import DunlinTypes

/// What a request that may have changed something makes of stored responses (RFC 9111 §4.4).
enum Invalidation {
    /// The keys whose responses are of no use any more: the target's, and those of Location and Content-Location where
    /// they are of the same origin, for nobody can speak for another.
    static func keys(after request: RequestHead, _ head: ResponseHead) -> [CacheKey] {
        guard !request.method.isSafe, (200...399).contains(head.status.code) else { return [] }
        var keys = [CacheKey(request)]
        for name in ["location", "content-location"] {
            for value in head.fields.rawValues(of: name) {
                guard let key = key(of: String(value), for: request), !keys.contains(key) else { continue }
                keys.append(key)
            }
        }
        return keys
    }

    /// The key of a reference that a response to `request` has; nil if it leads to another origin, or nowhere.
    static func key(of reference: String, for request: RequestHead) -> CacheKey? {
        let base = WebAddress(origin: request.origin, target: request.target)
        do throws(AddressError) {
            let found = try base.resolving(reference)
            guard found.origin.isSame(as: request.origin) else { return nil }
            // The same route leads there, and the same Host field.
            return CacheKey(origin: request.origin, target: found.target, of: request)
        } catch {
            return nil
        }
    }
}
