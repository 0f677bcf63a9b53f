package import DunlinTypes

/// What a request asks of caches (RFC 9111 §5.2.1, RFC 5861 §4).
///
/// Read as strictly as those of a response: a limit that cannot be read is the strictest there is, and of several the
/// strictest counts. `Pragma: no-cache` counts where there is no Cache-Control (§5.4), and in requests alone.
package struct RequestDirectives: Sendable, Equatable {
    package private(set) var isNoStore = false
    package private(set) var isNoCache = false
    package private(set) var isOnlyIfCached = false
    /// How old a response may be.
    package private(set) var maxAge: Int64?
    /// How long a response must remain fresh.
    package private(set) var minFresh: Int64?
    /// How long a response may have been stale; `Int64.max` if it does not matter.
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
