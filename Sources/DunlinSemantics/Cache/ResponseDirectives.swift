package import DunlinTypes

/// A response's directives for storing and reusing it in a private cache (RFC 9111 §5.2.2, RFC 5861, RFC 8246).
///
/// Directives that forbid count however badly they are written; those that permit count only if well-formed. `s-maxage`
/// and `proxy-revalidate` are for shared caches, and so is `private`, whatever fields it names. Unknown directives mean
/// nothing. Where two disagree, or a lifetime cannot be read, there is none left (§4.2.1).
package struct ResponseDirectives: Sendable, Equatable {
    /// The lifetime in seconds; zero if it cannot be read or several differ; nil without the directive.
    package private(set) var maxAge: Int64?
    package private(set) var isNoStore = false
    /// Whether there is a `no-cache` without field names, or with invalid ones.
    package private(set) var isNoCache = false
    /// The fields that `no-cache` names, in lower case: they are not stored (§3.1).
    package private(set) var unstoredFields: Set<String> = []
    package private(set) var mustRevalidate = false
    package private(set) var isPublic = false
    package private(set) var isPrivate = false
    package private(set) var isImmutable = false
    package private(set) var mustUnderstand = false
    package private(set) var isNoTransform = false
    package private(set) var staleWhileRevalidate: Int64?
    package private(set) var staleIfError: Int64?
    /// Whether there is an `s-maxage`, which allows sharing a response to a request with credentials (§3.5).
    private(set) var hasSharedAge = false

    package init(_ fields: Fields) {
        let reader = CacheControlReader(fields)
        for directive in reader.directives { note(directive) }
        if reader.isBroken { forgetPermissions() }
    }

    /// The directives without the names of fields that are not stored.
    var withoutNames: ResponseDirectives {
        var directives = self
        directives.unstoredFields = []
        return directives
    }

    private mutating func note(_ directive: CacheControlReader.Directive) {
        switch directive.name {
        case "max-age":
            let seconds = directive.seconds ?? 0
            maxAge = maxAge == nil || maxAge == seconds ? seconds : 0
        case "no-store": isNoStore = true
        case "no-cache": noteNoCache(directive.argument)
        case "must-revalidate": mustRevalidate = true
        case "public": isPublic = isPublic || directive.argument == .none
        case "private": isPrivate = true
        case "immutable": isImmutable = isImmutable || directive.argument != .malformed
        case "must-understand": mustUnderstand = mustUnderstand || directive.argument == .none
        case "no-transform": isNoTransform = true
        case "stale-while-revalidate": staleWhileRevalidate = Self.shorter(staleWhileRevalidate, directive)
        case "stale-if-error": staleIfError = Self.shorter(staleIfError, directive)
        case "s-maxage": hasSharedAge = hasSharedAge || directive.seconds != nil
        default: break
        }
    }

    private mutating func noteNoCache(_ argument: CacheControlReader.Argument) {
        guard case .text(let text) = argument, let names = FieldNames.all(in: Bytes(text)), !names.isEmpty else {
            isNoCache = true
            return
        }
        unstoredFields.formUnion(names)
    }

    /// Returns the shorter lifetime; an unreadable one is zero.
    private static func shorter(_ before: Int64?, _ directive: CacheControlReader.Directive) -> Int64 {
        min(before ?? .max, directive.seconds ?? 0)
    }

    private mutating func forgetPermissions() {
        maxAge = 0
        (isPublic, isImmutable, mustUnderstand, hasSharedAge) = (false, false, false, false)
        (staleWhileRevalidate, staleIfError) = (nil, nil)
    }
}
