package import DunlinTypes

/// What of a stored response answers a request.
package enum CachedForm: Sendable, Hashable {
    case whole
    /// The head alone.
    case head
    /// Those bytes of the representation, and how long it is if that is known.
    case range(Range<Int>, complete: Int?)
    /// A condition of the request's own says that it has it already.
    case notModified
}

extension CacheEntry {
    /// The head of an answer from the cache (RFC 9111 §4 and §5.1): the stored one, with its age.
    package func head(as form: CachedForm, at now: Int64) -> ResponseHead {
        var fields: Fields
        var status = status
        switch form {
        case .whole, .head:
            fields = ageless
        case .range(let range, let complete):
            status = .partialContent
            fields = ageless.filtered { $0 != "content-length" && $0 != "content-range" }
            fields.append(name: "Content-Length", value: String(range.count))
            fields.append(name: "Content-Range", value: "\(ContentRange.part(range, complete: complete))")
        case .notModified:
            status = .notModified
            fields = self.fields.filtered { Self.ofNotModified.contains($0) || $0 == "last-modified" }
            if entityTag != nil { fields.remove("last-modified") }
        }
        fields.append(name: "Age", value: String(freshness.age(at: now)))
        return ResponseHead(status: status, fields: fields)
    }

    /// The head of a response of which some was stored and the rest has come.
    func joinedHead(length: Int, at now: Int64) -> ResponseHead {
        var head = head(as: .whole, at: now)
        head.fields["Content-Length"] = String(length)
        return head
    }

    /// RFC 9110 §15.4.5: what a 304 must say again.
    private static let ofNotModified: Set<String> = [
        "cache-control", "content-location", "date", "etag", "expires", "vary",
    ]
}
