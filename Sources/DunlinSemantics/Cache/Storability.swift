internal import DunlinTypes

/// Whether a response may be stored by a private cache (RFC 9111 §3 and §3.3).
///
/// It must be of a GET, final, and either say how long it keeps or be of a status that is cacheable by itself. The
/// method of a POST is understood too where the response says that it is what a GET of the same URL would bring
/// (RFC 9110 §9.3.3).
enum Storability {
    /// What is known of the exchange when the head has come.
    struct Exchange {
        let request: CacheRequest
        let head: ResponseHead
        let sentAt: Int64
        let receivedAt: Int64
    }

    /// What to store; nil if nothing may be.
    static func draft(of exchange: Exchange, _ rules: CacheRules) -> CacheDraft? {
        let (request, head) = (exchange.request, exchange.head)
        let directives = ResponseDirectives(head.fields)
        guard isStorable(head, directives), fitsMethod(request, head, directives),
            !RequestDirectives(request.head.fields).isNoStore,
            let selecting = selecting(head.fields, for: request.head.fields, rules),
            let extent = CacheDraft.Extent(head)
        else { return nil }
        var fields = StoredFields.stored(of: head.fields, directives, receivedAt: exchange.receivedAt)
        let isPart = head.status == .partialContent
        if isPart { fields = fields.filtered { !StoredFields.ofContent.contains($0) } }
        let entry = CacheEntry(
            key: request.key, method: request.head.method, selecting: selecting, status: isPart ? .ok : head.status,
            fields: fields, sentAt: exchange.sentAt, receivedAt: exchange.receivedAt, body: .whole(0), rules: rules)
        return CacheDraft(entry: entry, extent: extent, rules: rules)
    }

    /// The secondary key; nil if the response fits no other request.
    ///
    /// What was asked for with credentials, in Authorization or any other secret field, is for these, unless the
    /// response says that even others may be given it (§3.5). A private cache need not make that difference; who has
    /// several users behind one does. Cookies are for Vary to name.
    static func selecting(_ response: Fields, for request: Fields, _ rules: CacheRules) -> SelectingFields? {
        guard case .names(var names) = VaryField(response) else { return nil }
        let secrets = CredentialFields.names(in: request, rules.secretFields).filter { !names.contains($0) }
        if !secrets.isEmpty {
            let directives = ResponseDirectives(response)
            let isForOthers = directives.isPublic || directives.mustRevalidate || directives.hasSharedAge
            if !isForOthers || directives.isPrivate { names += secrets }
        }
        return SelectingFields(names, of: request, rules)
    }

    private static func isStorable(_ head: ResponseHead, _ directives: ResponseDirectives) -> Bool {
        let status = head.status
        guard (200...599).contains(status.code), status != .notModified, !status.isChallenge else { return false }
        if directives.mustUnderstand {
            // Who understands the status may ignore `no-store`, which is there for those who do not (§5.2.2.3).
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
