internal import Dunlin
internal import DunlinSemantics

/// The part of a picture whose download stopped midway, and the server's validator for it.
struct PartialImage: Sendable, Hashable {
    let bytes: Bytes
    let validator: Validator
    /// Where redirects led; nil if to the requested URL.
    let source: FinalURL?
    let signs: Signs

    /// What says whether it was asked for as its user, or as nobody before a login.
    struct Signs: Sendable, Hashable {
        /// A known password is not sent before a server has asked for it.
        var hadCredentials = false
        var hadCookies = false
        /// Whether the response set cookies: those of the next request are no other user's.
        var setsCookies = false

        func isContinued(by next: Signs) -> Bool {
            hadCredentials == next.hadCredentials && (hadCookies == next.hadCookies || setsCookies)
        }
    }

    /// Creates a part; nil if it cannot be resumed: it is empty, must not be stored, or the server offers no ranges or
    /// gave no validator.
    init?(_ bytes: Bytes, of head: ResponseHead, from source: FinalURL?, signs: Signs = Signs()) {
        guard !bytes.isEmpty, !ResponseDirectives(head.fields).isNoStore, AcceptRanges(head.fields) != .none,
            let validator = Validator(head.fields)
        else { return nil }
        (self.bytes, self.validator, self.source, self.signs) = (bytes, validator, source, signs)
    }

    /// The fields that request the rest.
    var fields: Fields {
        ["Range": "bytes=\(bytes.count)-", "If-Range": validator.description]
    }

    /// Whether a response is the rest: from the same URL and state, and from the end of the part to the end of the
    /// picture. It must repeat the picture's tag, but need not repeat the date. Without a length the content is coded,
    /// and its parts are not parts of the picture; with another one it is not what its range says.
    func isContinued(by head: ResponseHead, of length: Int?, from source: FinalURL?) -> Bool {
        guard source == self.source, head.status.code == 206,
            case .part(let range, let complete) = ContentRange(head.fields)
        else { return false }
        switch (validator.agreement(with: head.fields), validator) {
        case (.changed, _), (.unsaid, .entityTag): return false
        case (.same, _), (.unsaid, .lastModified): break
        }
        return length == range.count && range.lowerBound == bytes.count
            && complete ?? range.upperBound == range.upperBound
    }
}

/// Parts of pictures, up to a total number of bytes; the oldest are removed first.
struct PartialImages<Identity: Hashable> {
    private var machine: ImageCacheMachine<Identity, PartialImage>

    init(capacity: Int) {
        machine = ImageCacheMachine(capacity: capacity, keeping: capacity)
    }

    var count: Int { machine.count }
    var usage: Int { machine.usage }

    /// Stores a part, unless it is larger than all the room.
    mutating func put(_ part: PartialImage, for identity: Identity) {
        _ = machine.add(part, bytes: part.bytes.count, for: identity)
        _ = machine.takeDiscarded()
    }

    mutating func take(_ identity: Identity) -> PartialImage? {
        defer { removeAll { $0 == identity } }
        return machine.anyValue(for: identity)
    }

    mutating func removeAll(where isMeant: (Identity) -> Bool) {
        _ = machine.removeAll(where: isMeant)
        _ = machine.takeDiscarded()
    }
}

extension PartialImages: Sendable where Identity: Sendable {}
