internal import Dunlin

/// What is there of a picture whose download stopped midway, and by what its server knows it again.
struct PartialImage: Sendable, Hashable {
    let bytes: Bytes
    /// For If-Range: a strong entity tag, or a date that is old enough to be one.
    let validator: String
    /// Where redirects led; nil for where it was asked for.
    let source: FinalURL?

    /// Nil for what cannot be resumed: there is nothing, nothing is to be kept, the server says that it sends no parts,
    /// or it said nothing by which to know that the rest belongs to it.
    init?(_ bytes: Bytes, of head: ResponseHead, from source: FinalURL?) {
        guard !bytes.isEmpty, ImageFreshness(head, now: 0).isStorable,
            head.fields["accept-ranges"]?.lowercased() != "none",
            let validator = Self.validator(head.fields)
        else { return nil }
        (self.bytes, self.validator, self.source) = (bytes, validator, source)
    }

    private static func validator(_ fields: Fields) -> String? {
        if let tag = fields["etag"] { return tag.hasPrefix("\"") && tag.count > 1 ? tag : nil }
        // A date identifies what has not changed within a minute of it (RFC 9110 §8.8.2.2).
        guard let text = fields["last-modified"], let changed = FixedDate.seconds(text),
            let sent = fields["date"].flatMap(FixedDate.seconds), sent - changed >= 60
        else { return nil }
        return text
    }

    /// What asks for the rest.
    var fields: Fields {
        ["Range": "bytes=\(bytes.count)-", "If-Range": validator]
    }

    /// Whether a response is the rest of it: from the same place, of the same state, and from where the part ends to
    /// the end.
    func isContinued(by head: ResponseHead, from source: FinalURL?) -> Bool {
        guard source == self.source, head.status.code == 206, let range = head.fields["content-range"] else {
            return false
        }
        if validator.hasPrefix("\"") {
            guard head.fields["etag"] == validator else { return false }
        } else if let changed = head.fields["last-modified"], changed != validator {
            return false
        }
        let words = range.split(separator: " ")
        guard words.count == 2, words[0].lowercased() == "bytes" else { return false }
        let parts = words[1].split(separator: "/", omittingEmptySubsequences: false)
        let ends = parts[0].split(separator: "-", omittingEmptySubsequences: false)
        guard parts.count == 2, ends.count == 2, Int(ends[0]) == bytes.count, let last = Int(ends[1]) else {
            return false
        }
        return parts[1] == "*" || Int(parts[1]).map { $0 - 1 == last } == true
    }
}

/// Parts of pictures, up to so many bytes; those that were put in first go first.
struct PartialImages<Identity: Hashable> {
    private let capacity: Int
    private var parts: [Identity: (part: PartialImage, arrival: UInt64)] = [:]
    private var arrivals: UInt64 = 0
    private(set) var usage = 0

    init(capacity: Int) {
        self.capacity = capacity
    }

    var count: Int { parts.count }

    /// One that is larger than all there is room for is not kept.
    mutating func put(_ part: PartialImage, for identity: Identity) {
        _ = take(identity)
        guard part.bytes.count <= capacity else { return }
        while usage + part.bytes.count > capacity, let oldest = parts.min(by: { $0.value.arrival < $1.value.arrival }) {
            _ = take(oldest.key)
        }
        arrivals += 1
        parts[identity] = (part, arrivals)
        usage += part.bytes.count
    }

    mutating func take(_ identity: Identity) -> PartialImage? {
        guard let part = parts.removeValue(forKey: identity)?.part else { return nil }
        usage -= part.bytes.count
        return part
    }

    mutating func removeAll(where isMeant: (Identity) -> Bool) {
        for identity in parts.keys.filter(isMeant) { _ = take(identity) }
    }
}

extension PartialImages: Sendable where Identity: Sendable {}
