package import DunlinTypes

/// A stored response: all that a store keeps beside the bytes of the body, and what follows from it.
///
/// A plain value, in one immutable object except for its body, so that it is passed on as one reference. A store
/// encodes the parameters of `init` and makes the same entry of them again; what follows is computed here, once, so
/// that a hit does not read fields again.
package struct CacheEntry: Sendable {
    struct Contents: Sendable {
        let key: CacheKey
        let method: HTTP.Method
        let selecting: SelectingFields
        let owner: CacheOwner
        let wasNamed: Bool
        let hasEverybodysBody: Bool
        let status: HTTP.Status
        let fields: Fields
        let sentAt: Int64
        let receivedAt: Int64
        let ageless: Fields
        let directives: ResponseDirectives
        let date: Int64
        let freshness: Freshness
        let entityTag: EntityTag?
        let lastModified: HTTPDate?
        let validator: Validator?
    }

    private final class Object: Sendable {
        let contents: Contents

        init(_ contents: Contents) {
            self.contents = contents
        }
    }

    private let object: Object
    package private(set) var body: CachedBody
    /// Whether something has shown that it may be outdated: it is served only after validation, however fresh.
    package private(set) var isDoubtful: Bool

    /// Creates an entry. `said` are the directives of the response and `madeAt` is its Date, if they were read already.
    package init(
        key: CacheKey, method: HTTP.Method = .get, selecting: SelectingFields, owner: CacheOwner = .everybody,
        wasNamed: Bool = false, hasEverybodysBody: Bool = false, status: HTTP.Status, fields: Fields, sentAt: Int64,
        receivedAt: Int64, body: CachedBody, isDoubtful: Bool = false, said: ResponseDirectives? = nil,
        madeAt: Int64? = nil, rules: CacheRules
    ) {
        let directives = (said ?? ResponseDirectives(fields)).withoutNames
        let date = madeAt ?? Freshness.date(fields)
        let lastModified = fields.soleValue(of: "last-modified").flatMap { HTTPDate(forgiving: $0) }
        object = Object(
            Contents(
                key: key, method: method, selecting: selecting, owner: owner, wasNamed: wasNamed,
                hasEverybodysBody: hasEverybodysBody, status: status,
                fields: fields, sentAt: sentAt, receivedAt: receivedAt,
                ageless: fields.contains("age") ? fields.without(["age"]) : fields,
                directives: directives, date: date ?? receivedAt,
                freshness: Freshness(
                    fields, directives, status, at: date, changed: lastModified, sentAt: sentAt,
                    receivedAt: receivedAt, rules),
                entityTag: fields.soleValue(of: "etag").flatMap { EntityTag(forgiving: $0) },
                lastModified: lastModified,
                validator: Validator(fields)))
        self.body = body
        self.isDoubtful = isDoubtful
    }

    package var key: CacheKey { object.contents.key }
    /// The request's method; nearly always GET (RFC 9110 §9.3.3 has the exception).
    package var method: HTTP.Method { object.contents.method }
    package var selecting: SelectingFields { object.contents.selecting }
    package var owner: CacheOwner { object.contents.owner }
    /// Whether the body was asked for with something that says who asks; where it is everybody's, whether anybody with
    /// a sign asked for it. A known password is not sent before a server asks for it, and servers may give what anybody
    /// gets and what a user gets one tag.
    package var wasNamed: Bool { object.contents.wasNamed }
    /// Whether one user's server has confirmed a body that was everybody's: the head is that user's, and of the body
    /// nothing else is known.
    package var hasEverybodysBody: Bool { object.contents.hasEverybodysBody }
    /// The status, never 206 or 304: a part is stored as a 200 that is not complete (RFC 9111 §3.3).
    package var status: HTTP.Status { object.contents.status }
    /// The stored fields: without what `StoredFields` leaves out, with the Age that the response came with.
    package var fields: Fields { object.contents.fields }
    /// When the request was sent and when the response came, in seconds since 1970.
    package var sentAt: Int64 { object.contents.sentAt }
    package var receivedAt: Int64 { object.contents.receivedAt }
    /// The fields without Age.
    var ageless: Fields { object.contents.ageless }
    /// The directives, except the fields that `no-cache` names, which are not stored.
    package var directives: ResponseDirectives { object.contents.directives }
    /// When the origin made it, by its own clock if it states that.
    package var date: Int64 { object.contents.date }
    package var freshness: Freshness { object.contents.freshness }
    package var entityTag: EntityTag? { object.contents.entityTag }
    /// The Last-Modified field, if it is a date.
    package var lastModified: HTTPDate? { object.contents.lastModified }
    /// The strong validator that shows whether other bytes are of the same state; nil if there is none.
    package var validator: Validator? { object.contents.validator }

    /// Whether every request that selects this one also selects the other: then the newer one is enough. Such pairs
    /// come from concurrent requests.
    package func supersedes(_ other: CacheEntry) -> Bool {
        key == other.key && selecting == other.selecting && owner == other.owner
            && (other.date, other.receivedAt) <= (date, receivedAt)
    }

    /// Whose answer it was when it was stored: everybody's or one user's, and whether it was asked for with something
    /// that says who asks.
    package struct Whose: Sendable {
        package let isEverybodys: Bool
        package let wasNamed: Bool
    }

    package var whose: Whose { Whose(isEverybodys: owner.user == nil || hasEverybodysBody, wasNamed: wasNamed) }

    /// Whether it is only for some requests of its URL.
    var isVariant: Bool { !selecting.members.isEmpty || owner.user != nil }

    /// Whether it comes before another that is for the same request. An entry that fits every request is probably a
    /// mistake if there are others (RFC 9111 §4.1).
    func isBetter(than other: CacheEntry) -> Bool {
        isVariant == other.isVariant
            ? (other.date, other.receivedAt) < (date, receivedAt) : isVariant
    }

    /// Whether it can be revalidated.
    package var isAskable: Bool { entityTag != nil || lastModified != nil }
}

extension CacheEntry {
    /// Returns the response with another body. Values derived from the fields are not computed again.
    func with(body: CachedBody) -> CacheEntry {
        var entry = self
        entry.body = body
        return entry
    }

    /// Returns the response marked as doubtful, as a HEAD has shown that it may be outdated.
    func doubted() -> CacheEntry {
        var entry = self
        entry.isDoubtful = true
        return entry
    }

    /// Returns the response with the fields of a newer head that confirmed it; nil if it must not be kept.
    func updated(by exchange: Storability.Exchange, rules: CacheRules) -> CacheEntry? {
        let head = exchange.head
        if ResponseDirectives(head.fields).isNoStore { return nil }
        let fields = StoredFields.updated(
            fields, by: head.fields, receivedAt: exchange.receivedAt, isPart: head.status == .partialContent)
        return with(
            fields: fields, for: exchange.request, sentAt: exchange.sentAt, receivedAt: exchange.receivedAt, rules)
    }

    /// Returns the response with other fields; nil if it fits no other request with them, or would keep a secret.
    func with(
        fields: Fields, for request: CacheRequest, sentAt: Int64, receivedAt: Int64, _ rules: CacheRules
    ) -> CacheEntry? {
        let directives = ResponseDirectives(fields)
        guard let selecting = Storability.selecting(fields, for: request.head.fields, rules),
            let owner = Storability.owner(fields, directives, selecting, for: request, rules)
        else { return nil }
        let isGivenAway = owner.user == nil && self.owner.user != nil
        return CacheEntry(
            key: key, method: method, selecting: selecting, owner: owner, wasNamed: wasNamed || isGivenAway,
            hasEverybodysBody: hasEverybodysBody || self.owner.user == nil && owner.user != nil,
            status: status, fields: fields, sentAt: sentAt, receivedAt: receivedAt, body: body, said: directives,
            rules: rules)
    }
}

extension CacheEntry: CustomReflectable {
    /// Shows no secrets: fields, key and selecting fields hide their own.
    package var customMirror: Mirror {
        Mirror(self, children: ["key": key, "status": status, "fields": fields, "body": body])
    }
}
