package import DunlinTypes

/// What is to be done about a request.
package enum CacheAction: Sendable {
    /// Answer from the store.
    case serve(CacheServing)
    /// Ask the network, with these fields.
    case send(CacheSending)
    /// It may only be answered from the store, which has nothing: 504, as RFC 9111 §5.2.1.7 has it.
    case unavailable
}

/// An answer from the store.
package struct CacheServing: Sendable {
    /// Which of the candidates.
    package let index: Int
    package let form: CachedForm
    package let head: ResponseHead
    /// Seconds since the origin made it or confirmed it.
    package let age: Int64
    /// For how many seconds it remains fresh; not above zero if it is stale.
    package let remaining: Int64
    /// What to ask the network meanwhile (RFC 5861 §3); what comes of it is for the store alone.
    package let revalidation: CacheSending?

    package var isStale: Bool { remaining <= 0 }

    /// What to say of it, if nothing was asked before.
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
        /// Whether this candidate may be served.
        case validation(Int)
        /// What this candidate lacks at its end.
        case rest(Int)
    }

    package let purpose: Purpose
    package let reason: CacheStatus.Forward
    /// All fields of the request.
    package let fields: Fields
}

/// What is to be done once the network has answered, or failed.
package struct CacheUpdate: Sendable {
    package enum Delivery: Sendable {
        /// What the network answered.
        case network
        /// A stored response; the body of the network's is read and thrown away.
        case stored(CacheServing)
        /// The stored bytes of a candidate, then the network's body, under this head.
        case joined(index: Int, head: ResponseHead)
        /// Nothing yet: ask again.
        case again(CacheSending)
    }

    package enum Change: Sendable {
        /// The network's body, as it comes. These candidates are of no use any more, whatever becomes of it.
        case store(CacheDraft, replacing: [Int])
        /// The network's body, as it comes, into the body of this candidate, at the draft's start.
        case extend(Int, CacheDraft)
        /// Another entry in front of the same body.
        case update(Int, CacheEntry)
        case remove([Int])
        /// Everything under these keys.
        case invalidate([CacheKey])
    }

    package let delivery: Delivery
    package let changes: [Change]
    package let status: CacheStatus
}
