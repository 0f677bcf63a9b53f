package import DunlinTypes

/// The part of a stored response that answers a request.
package enum CachedForm: Sendable, Hashable {
    case whole
    /// The head alone.
    case head
    /// These bytes of the representation, and its length if known.
    case range(Range<Int>, complete: Int?)
    /// A 304, as a condition of the request's own is met.
    case notModified
}

extension CacheEntry {
    /// Returns the head of an answer from the cache (RFC 9111 §4 and §5.1): the stored one, with its age.
    package func head(as form: CachedForm, at now: Int64) -> ResponseHead {
        var fields: Fields
        var status = status
        switch form {
        case .whole, .head:
            fields = ageless
        case .range(let range, let complete):
            status = .partialContent
            fields = ageless.filtered { !StoredFields.ofContent.contains($0) }
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

    /// Returns the head of a response that is partly stored and partly new.
    func joinedHead(length: Int, at now: Int64) -> ResponseHead {
        var head = head(as: .whole, at: now)
        head.fields["Content-Length"] = String(length)
        return head
    }

    /// The fields that a 304 must repeat (RFC 9110 §15.4.5).
    private static let ofNotModified: Set<String> = [
        "cache-control", "content-location", "date", "etag", "expires", "vary",
    ]
}
