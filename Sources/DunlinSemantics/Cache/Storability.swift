internal import DunlinTypes

/// Whether a response may be stored by a private cache (RFC 9111 §3 and §3.3).
///
/// It must be of a GET, final, and either say how long it keeps or be of a status that is cacheable by itself. The
/// method of a POST is understood too where the response says that it is what a GET of the same URL would bring
/// (RFC 9110 §9.3.3).
enum Storability {
    /// What is known of the exchange once the head has come.
    struct Exchange {
        let request: CacheRequest
        let head: ResponseHead
        /// The fields that were sent.
        let sent: Fields
        let secretFields: HTTP.SecretFields
        let sentAt: Int64
        let receivedAt: Int64

        /// Whether something was sent that says who asks.
        var isNamed: Bool { CredentialFields.areNamed(sent, secretFields) }
    }

    /// Returns what to store; nil if nothing may be.
    static func draft(of exchange: Exchange, _ rules: CacheRules) -> CacheDraft? {
        let (request, head) = (exchange.request, exchange.head)
        let directives = ResponseDirectives(head.fields)
        guard isStorable(head, directives), fitsMethod(request, head, directives),
            !RequestDirectives(request.head.fields).isNoStore,
            let selecting = selecting(head.fields, for: request.head.fields, rules),
            let extent = CacheDraft.Extent(head)
        else { return nil }
        let asker = request.asker.name
        guard let owner = owner(head.fields, directives, selecting, for: request, rules) else { return nil }
        var (fields, date) = StoredFields.dated(head.fields, directives, receivedAt: exchange.receivedAt)
        let isPart = head.status == .partialContent
        if isPart { fields = fields.filtered { !StoredFields.ofContent.contains($0) } }
        let entry = CacheEntry(
            key: request.key, method: request.head.method, selecting: selecting, owner: owner,
            wasNamed: exchange.isNamed || owner.user == nil && asker != nil,
            status: isPart ? .ok : head.status, fields: fields, sentAt: exchange.sentAt,
            receivedAt: exchange.receivedAt, body: .whole(0), said: directives, madeAt: date, rules: rules)
        return CacheDraft(entry: entry, extent: extent, rules: rules)
    }

    /// Returns a response of any status as it is kept for one asker, whether or not it says how long it keeps; nil if
    /// it may not be kept, or fits no other request.
    static func entry(of exchange: Exchange, _ rules: CacheRules) -> CacheEntry? {
        let (request, head) = (exchange.request, exchange.head)
        let directives = ResponseDirectives(head.fields)
        guard !directives.isNoStore, !RequestDirectives(request.head.fields).isNoStore,
            let selecting = selecting(head.fields, for: request.head.fields, rules)
        else { return nil }
        return CacheEntry(
            key: request.key, method: request.head.method, selecting: selecting,
            owner: CacheOwner(user: nil, terms: request.asker.terms), wasNamed: exchange.isNamed, status: head.status,
            fields: StoredFields.stored(of: head.fields, directives, receivedAt: exchange.receivedAt),
            sentAt: exchange.sentAt, receivedAt: exchange.receivedAt, body: .whole(0), said: directives, rules: rules)
    }

    /// Returns the secondary key; nil if the response fits no other request. Cookies count only if Vary names them.
    static func selecting(_ response: Fields, for request: Fields, _ rules: CacheRules) -> SelectingFields? {
        guard case .names(let names) = VaryField(response) else { return nil }
        return SelectingFields(names, of: request, rules)
    }

    /// Returns the response's owner; nil if it cannot be kept without keeping secrets.
    ///
    /// A response to a request with credentials is for the same ones, unless it says that it may be shared (§3.5). The
    /// RFC does not demand that of a private cache, but one for several users needs it. What varies by the credentials
    /// is for the same ones in any case: those that are added on the way select no variant. So is what varies by a
    /// field that their request did not have, and may have another time.
    static func owner(
        _ fields: Fields, _ directives: ResponseDirectives, _ selecting: SelectingFields, for request: CacheRequest,
        _ rules: CacheRules
    ) -> CacheOwner? {
        let terms = request.asker.terms
        let isForOthers =
            isForEverybody(fields, directives) && !request.asker.mayGain(whatIsAbsentIn: selecting)
        guard let name = request.asker.name, !isForOthers else { return CacheOwner(user: nil, terms: terms) }
        return rules.hashing(.sha256, name).map { CacheOwner(user: $0, terms: terms) }
    }

    static func isForEverybody(_ fields: Fields, _ directives: ResponseDirectives) -> Bool {
        guard !directives.isPrivate, directives.isPublic || directives.mustRevalidate || directives.hasSharedAge,
            case .names(let names) = VaryField(fields)
        else { return false }
        return !names.contains("authorization")
    }

    private static func isStorable(_ head: ResponseHead, _ directives: ResponseDirectives) -> Bool {
        let status = head.status
        guard (200...599).contains(status.code), status != .notModified, !status.isChallenge else { return false }
        if directives.mustUnderstand {
            // A cache that understands the status may ignore `no-store`, which is for others (§5.2.2.3).
            guard status.isUnderstoodByCaches else { return false }
        } else if directives.isNoStore {
            return false
        }
        return directives.isPublic || directives.isPrivate || directives.maxAge != nil
            || head.fields.contains("expires") || status.isHeuristicallyCacheable
    }

    private static func fitsMethod(
        _ request: CacheRequest, _ head: ResponseHead, _ directives: ResponseDirectives
    ) -> Bool {
        if request.head.method == .get { return true }
        guard request.head.method == .post, head.status == .ok,
            directives.maxAge != nil || head.fields.contains("expires"),
            let reference = head.fields.soleValue(of: "content-location")
        else { return false }
        return Invalidation.key(of: String(reference), for: request.head) == request.key
    }
}

extension ResponseHead {
    /// Whether it says that it may be given to others than who asked.
    package var isForEverybody: Bool { Storability.isForEverybody(fields, ResponseDirectives(fields)) }
}
