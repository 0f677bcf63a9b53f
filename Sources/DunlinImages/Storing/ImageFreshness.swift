public import Dunlin
internal import DunlinSemantics

/// What a response says about how long its picture may be shown, and by what to ask whether it is still the same.
///
/// Of RFC 9111 it knows what a level in memory above the HTTP cache needs, and reads it as that does: `no-store`,
/// `no-cache`, `max-age`, `Expires`, `Date` and `Age`. What says nothing has no end: AFNetworking's cache shows every
/// picture until it is purged. A session's HTTP cache decides for itself about the bytes.
public struct ImageFreshness: Sendable, Hashable {
    /// False after `no-store`: a picture that is kept nowhere.
    public var isStorable: Bool
    /// From the moment when the response came; nil without an end. Zero, or less, for what has to be asked about.
    public var lifetime: Duration?
    public var entityTag: String?
    public var lastModified: String?
    /// Whether the response depends on more of a request than the cache of images knows pictures by: then it is asked
    /// about each time.
    var variesByMore = false
    /// Where redirects led; nil for where the picture was asked for. Nobody else's confirmation counts.
    var source: FinalURL?

    public init(
        isStorable: Bool = true, lifetime: Duration? = nil, entityTag: String? = nil, lastModified: String? = nil
    ) {
        (self.isStorable, self.lifetime) = (isStorable, lifetime)
        (self.entityTag, self.lastModified) = (entityTag, lastModified)
    }

    /// A hundred years in seconds.
    private static let longest: Int64 = 3_155_760_000

    /// What has no end, and nothing to ask by: a picture that came from no response.
    public static let unlimited = ImageFreshness()

    /// What a response says. `now` are seconds since 1970, for a response without a Date; `age` is how old an HTTP
    /// cache says that it is. `selecting` are the names, in lower case, of the fields by which pictures are told apart;
    /// what varies by others is asked about each time.
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

    /// The fields that ask whether the picture is still the same; empty if nothing can be asked by.
    var conditions: [(name: String, value: String)] {
        var conditions: [(name: String, value: String)] = []
        if let entityTag { conditions.append(("If-None-Match", entityTag)) }
        if let lastModified, entityTag == nil { conditions.append(("If-Modified-Since", lastModified)) }
        return conditions
    }

    /// What a 304 says, where it says something, and what was known otherwise. One without Cache-Control confirms that
    /// of the response, and its time begins anew.
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
