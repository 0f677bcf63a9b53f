package import DunlinTypes

/// What to do with a request.
package enum CacheAction: Sendable {
    /// Answer from the store.
    case serve(CacheServing)
    /// Ask the network, with these fields.
    case send(CacheSending)
    /// It may only be answered from the store, which has nothing: 504, as in RFC 9111 §5.2.1.7.
    case unavailable
}

/// An answer from the store.
package struct CacheServing: Sendable {
    /// The index of the candidate.
    package let index: Int
    package let form: CachedForm
    package let head: ResponseHead
    /// The seconds since the origin made or confirmed it.
    package let age: Int64
    /// The seconds for which it remains fresh; zero or less if it is stale.
    package let remaining: Int64
    /// The question to ask the network meanwhile (RFC 5861 §3); its result is only stored.
    package let revalidation: CacheSending?

    package var isStale: Bool { remaining <= 0 }

    /// The status to report, if the network was not asked before.
    package var status: CacheStatus {
        var status = CacheStatus(.hit)
        status.remaining = remaining
        return status
    }
}

/// A question to the network.
package struct CacheSending: Sendable {
    package enum Purpose: Sendable, Hashable {
        case whole
        /// Asks whether this candidate may be served.
        case validation(Int)
        /// Asks for the missing end of this candidate.
        case rest(Int)
    }

    package let purpose: Purpose
    package let reason: CacheStatus.Forward
    /// All fields of the request.
    package let fields: Fields

    /// The fields that a cache asks with.
    static let fieldNames = ["cache-control", "pragma", "if-none-match", "if-modified-since", "if-range", "range"]

    /// Returns the fields to send in place of `present`, which may have changed since the cache was asked with `asked`:
    /// only the cache's own fields change. Nil if none does.
    package func changing(_ present: Fields, since asked: Fields) -> Fields? {
        if purpose == .whole, fields.count == asked.count { return nil }
        let names = Self.fieldNames.filter { fields.rawValues(of: $0) != asked.rawValues(of: $0) }
        return names.isEmpty ? nil : present.taking(names, from: fields)
    }
}

/// What to do once the network has answered, or failed.
package struct CacheUpdate: Sendable {
    package enum Delivery: Sendable {
        /// The network's answer.
        case network
        /// A stored response; the network's body is read and dropped.
        case stored(CacheServing)
        /// The stored bytes of a candidate, then the network's body, under this head.
        case joined(index: Int, head: ResponseHead)
        /// Nothing yet: ask again.
        case again(CacheSending)
    }

    package enum Change: Sendable {
        /// Store the network's body as it comes. The replaced candidates are void, whatever happens to it.
        case store(CacheDraft, replacing: [Int])
        /// Store the network's body as it comes in the body of this candidate, at the draft's start.
        case extend(Int, CacheDraft)
        /// Replace the entry of a body.
        case update(Int, CacheEntry)
        case remove([Int])
        /// Remove everything under these keys.
        case invalidate([CacheKey])
    }

    package let delivery: Delivery
    package let changes: [Change]
    package let status: CacheStatus
}
