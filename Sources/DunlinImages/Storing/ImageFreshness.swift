public import Dunlin
internal import DunlinSemantics

/// How long a response's picture may be shown, and how to validate it.
///
/// It implements the part of RFC 9111 that a memory cache above the HTTP cache needs, by the same rules: `no-store`,
/// `no-cache`, `max-age`, `Expires`, `Date` and `Age`. A response without any of these has no end: AFNetworking's cache
/// shows every picture until it is purged. A session's HTTP cache decides separately about the bytes.
public struct ImageFreshness: Sendable, Hashable {
    /// Whether the picture may be stored; false after `no-store`.
    public var isStorable: Bool
    /// The time from the response's arrival until the picture is stale; nil for no end. With zero or less, it is
    /// validated each time.
    public var lifetime: Duration?
    public var entityTag: String?
    public var lastModified: String?
    /// Whether the response varies by more of the request than the cache of images distinguishes: it is then validated
    /// each time.
    var variesByMore = false
    /// Where redirects led; nil if to the requested URL. Only that URL's confirmation counts.
    var source: FinalURL?

    public init(
        isStorable: Bool = true, lifetime: Duration? = nil, entityTag: String? = nil, lastModified: String? = nil
    ) {
        (self.isStorable, self.lifetime) = (isStorable, lifetime)
        (self.entityTag, self.lastModified) = (entityTag, lastModified)
    }

    /// A hundred years in seconds.
    private static let longest: Int64 = 3_155_760_000

    /// No end and no validators: for a picture that did not come from a response.
    public static let unlimited = ImageFreshness()

    /// Reads a response's freshness. `now` is seconds since 1970, for a response without a Date; `age` is its age
    /// according to an HTTP cache. `selecting` are the names, in lower case, of the fields that distinguish pictures;
    /// responses that vary by others are validated each time.
    public init(_ head: ResponseHead, now: Int64, age: Duration? = nil, selecting: Set<String> = []) {
        let (fields, directives) = (head.fields, ResponseDirectives(head.fields))
        let age = age ?? .seconds(Freshness.initialAge(fields, sentAt: now, receivedAt: now))
        let said = directives.isNoCache ? 0 : Freshness.said(fields, directives, receivedAt: now)
        self.init(
            isStorable: !directives.isNoStore, lifetime: said.map { .seconds(min($0, Self.longest)) - age },
            entityTag: fields["etag"], lastModified: fields["last-modified"])
        switch VaryField(fields) {
        case .everything: variesByMore = true
        case .names(let names): variesByMore = names.contains { $0 != "accept-encoding" && !selecting.contains($0) }
        }
        if variesByMore { lifetime = .zero }
    }

    /// The fields that validate the picture; empty without validators.
    var conditions: [(name: String, value: String)] {
        var conditions: [(name: String, value: String)] = []
        if let entityTag { conditions.append(("If-None-Match", entityTag)) }
        if let lastModified, entityTag == nil { conditions.append(("If-Modified-Since", lastModified)) }
        return conditions
    }

    /// The freshness after a 304: its own values, and the former ones where it has none. Without Cache-Control, it
    /// confirms that of the response, and the time begins anew.
    func renewed(by head: ResponseHead, now: Int64) -> ImageFreshness {
        let newer = ImageFreshness(head, now: now)
        let says = head.fields.contains("cache-control") || head.fields.contains("expires")
        var renewed = ImageFreshness(
            isStorable: newer.isStorable, lifetime: says ? newer.lifetime : lifetime,
            entityTag: newer.entityTag ?? entityTag, lastModified: newer.lastModified ?? lastModified)
        (renewed.variesByMore, renewed.source) = (variesByMore, source)
        if variesByMore { renewed.lifetime = .zero }
        return renewed
    }
}
