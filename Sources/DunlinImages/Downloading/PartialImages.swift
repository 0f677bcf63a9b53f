internal import Dunlin
internal import DunlinSemantics

/// What is there of a picture whose download stopped midway, and by what its server knows it again.
struct PartialImage: Sendable, Hashable {
    let bytes: Bytes
    let validator: Validator
    /// Where redirects led; nil for where it was asked for.
    let source: FinalURL?

    /// Nil for what cannot be resumed: there is nothing, nothing is to be kept, the server says that it sends no parts,
    /// or it said nothing by which to know that the rest belongs to it.
    init?(_ bytes: Bytes, of head: ResponseHead, from source: FinalURL?) {
        guard !bytes.isEmpty, !ResponseDirectives(head.fields).isNoStore, AcceptRanges(head.fields) != .none,
            let validator = Validator(head.fields)
        else { return nil }
        (self.bytes, self.validator, self.source) = (bytes, validator, source)
    }

    /// What asks for the rest.
    var fields: Fields {
        ["Range": "bytes=\(bytes.count)-", "If-Range": validator.description]
    }

    /// Whether a response is the rest of it: from the same place, of the same state, and from where the part ends to
    /// the end. A part must repeat the tag that the whole has, and need not repeat the date.
    func isContinued(by head: ResponseHead, from source: FinalURL?) -> Bool {
        guard source == self.source, head.status.code == 206,
            case .part(let range, let complete) = ContentRange(head.fields)
        else { return false }
        switch (validator.agreement(with: head.fields), validator) {
        case (.changed, _), (.unsaid, .entityTag): return false
        case (.same, _), (.unsaid, .lastModified): break
        }
        return range.lowerBound == bytes.count && complete ?? range.upperBound == range.upperBound
    }
}

/// Parts of pictures, up to so many bytes; those that were put in first go first.
struct PartialImages<Identity: Hashable> {
    private var machine: ImageCacheMachine<Identity, PartialImage>

    init(capacity: Int) {
        machine = ImageCacheMachine(capacity: capacity, keeping: capacity)
    }

    var count: Int { machine.count }
    var usage: Int { machine.usage }

    /// One that is larger than all there is room for is not kept.
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
