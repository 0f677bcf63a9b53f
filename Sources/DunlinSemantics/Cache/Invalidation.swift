internal import DunlinTypes

/// Decides which stored responses a changing request invalidates (RFC 9111 §4.4).
enum Invalidation {
    /// Returns the invalid keys: the target's, and those of Location and Content-Location if they are of the same
    /// origin, as a server cannot speak for another.
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

    /// Returns the key of a reference in a response to `request`; nil if it leads to another origin, or nowhere.
    static func key(of reference: String, for request: RequestHead) -> CacheKey? {
        let base = WebAddress(origin: request.origin, target: request.target)
        do throws(AddressError) {
            let found = try base.resolving(reference)
            guard found.origin.isSame(as: request.origin) else { return nil }
            // It has the same route and Host field.
            return CacheKey(origin: request.origin, target: found.target, of: request)
        } catch {
            return nil
        }
    }
}
