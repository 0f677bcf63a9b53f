package import DunlinTypes

/// A request's directives for caches (RFC 9111 §5.2.1, RFC 5861 §4). They are read as strictly as a response's: an
/// unreadable limit is the strictest there is, and of several the strictest counts. `Pragma: no-cache` counts without
/// Cache-Control (§5.4), and only in requests.
package struct RequestDirectives: Sendable, Equatable {
    package private(set) var isNoStore = false
    package private(set) var isNoCache = false
    package private(set) var isOnlyIfCached = false
    /// The highest age of a response, in seconds.
    package private(set) var maxAge: Int64?
    /// The shortest time that a response must remain fresh, in seconds.
    package private(set) var minFresh: Int64?
    /// The longest time that a response may have been stale, in seconds; `Int64.max` for any.
    package private(set) var maxStale: Int64?
    package private(set) var staleIfError: Int64?

    package init() {}

    package init(_ fields: Fields) {
        guard fields.contains("cache-control") else {
            isNoCache = fields.rawValues(of: "pragma").contains {
                FieldNames.all(in: $0)?.contains("no-cache") ?? true
            }
            return
        }
        let reader = CacheControlReader(fields)
        for directive in reader.directives { note(directive) }
        if reader.isBroken { (isNoCache, maxStale, staleIfError) = (true, nil, nil) }
    }

    private mutating func note(_ directive: CacheControlReader.Directive) {
        let seconds = directive.seconds
        switch directive.name {
        case "no-store": isNoStore = true
        case "no-cache": isNoCache = true
        case "only-if-cached": isOnlyIfCached = true
        case "max-age": maxAge = min(maxAge ?? .max, seconds ?? 0)
        case "min-fresh": minFresh = max(minFresh ?? 0, seconds ?? .max)
        case "max-stale":
            let allowed = directive.argument == .none ? .max : seconds ?? 0
            maxStale = min(maxStale ?? .max, allowed)
        case "stale-if-error": staleIfError = min(staleIfError ?? .max, seconds ?? 0)
        default: break
        }
    }
}
