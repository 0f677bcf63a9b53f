package import DunlinTypes

/// A stored response: all that a store keeps beside the bytes of the body, and what follows from it.
///
/// A plain value. A store encodes the parameters of `init` and makes the same entry of them again; what follows is
/// computed here, once, so that a hit does not read fields again.
package struct CacheEntry: Sendable {
    package let key: CacheKey
    /// The request's method; nearly always GET (RFC 9110 §9.3.3 has the exception).
    package let method: HTTP.Method
    package let selecting: SelectingFields
    package let owner: CacheOwner
    /// The status, never 206 or 304: a part is stored as a 200 that is not complete (RFC 9111 §3.3).
    package let status: HTTP.Status
    /// The stored fields: without what `StoredFields` leaves out, with the Age that the response came with.
    package let fields: Fields
    /// When the request was sent and when the response came, in seconds since 1970.
    package let sentAt: Int64
    package let receivedAt: Int64
    package private(set) var body: CachedBody
    /// Whether something has shown that it may be outdated: it is served only after validation, however fresh.
    package private(set) var isDoubtful: Bool

    /// The fields without Age.
    let ageless: Fields
    /// The directives, except the fields that `no-cache` names, which are not stored.
    package let directives: ResponseDirectives
    package let freshness: Freshness
    package let entityTag: EntityTag?
    /// The Last-Modified field, if it is a date.
    package let lastModified: HTTPDate?
    /// The strong validator that shows whether other bytes are of the same state; nil if there is none.
    package let validator: Validator?

    package init(
        key: CacheKey, method: HTTP.Method = .get, selecting: SelectingFields, owner: CacheOwner = .everybody,
        status: HTTP.Status, fields: Fields, sentAt: Int64, receivedAt: Int64, body: CachedBody,
        isDoubtful: Bool = false, rules: CacheRules
    ) {
        self.key = key
        self.method = method
        self.selecting = selecting
        self.owner = owner
        self.status = status
        self.fields = fields
        self.sentAt = sentAt
        self.receivedAt = receivedAt
        self.body = body
        self.isDoubtful = isDoubtful
        ageless = fields.contains("age") ? fields.filtered { $0 != "age" } : fields
        directives = ResponseDirectives(fields).withoutNames
        freshness = Freshness(fields, directives, status, sentAt: sentAt, receivedAt: receivedAt, rules)
        entityTag = fields.soleValue(of: "etag").flatMap { EntityTag($0) }
        lastModified = fields.soleValue(of: "last-modified").flatMap { HTTPDate(forgiving: $0) }
        validator = Validator(fields)
    }

    /// When the origin made it, by its own clock if it states that.
    package var date: Int64 { Freshness.date(fields) ?? receivedAt }

    /// Whether every request that selects this one also selects the other: then the newer one is enough. Such pairs
    /// come from concurrent requests.
    package func supersedes(_ other: CacheEntry) -> Bool {
        key == other.key && selecting == other.selecting && owner == other.owner
            && (other.date, other.receivedAt) <= (date, receivedAt)
    }

    /// Whether it is only for some requests of its URL.
    var isVariant: Bool { !selecting.members.isEmpty || owner.user != nil }

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
        guard let selecting = Storability.selecting(fields, for: exchange.request.head.fields, rules),
            let owner = Storability.owner(of: fields, for: exchange.request, rules)
        else { return nil }
        return CacheEntry(
            key: key, method: method, selecting: selecting, owner: owner, status: status, fields: fields,
            sentAt: exchange.sentAt, receivedAt: exchange.receivedAt, body: body, rules: rules)
    }
}

extension CacheEntry: CustomReflectable {
    /// Shows no secrets: fields, key and selecting fields hide their own.
    package var customMirror: Mirror {
        Mirror(self, children: ["key": key, "status": status, "fields": fields, "body": body])
    }
}
