internal import FoundationEssentials

extension HTTP.JSON {
    /// Encodes a value as JSON in UTF-8.
    ///
    /// Throws an `EncodingError` of the same kind as Foundation's encoder: for infinities and NaN, for a value that
    /// encodes nothing, and for one nested deeper than the limit.
    public func encode(_ value: some Encodable) throws -> Bytes {
        if let encoder { return Bytes(try encoder().encode(value)) }
        let draft = JSONDraft(self)
        let root = JSONValueEncoder(draft, JSONOutline.root, in: nil, at: .none)
        try root.encodeIfAny(value, JSONOutline.root, at: .none)
        switch draft.outline.problem {
        case .tooDeep: throw JSONDraft.tooDeep(value, limits.depth)
        case .contradiction:
            throw root.invalid(value, "\(type(of: value)) encodes two values in one place", at: .none)
        case .tooLong: throw root.invalid(value, "the text is longer than 4 GiB", at: .none)
        case nil:
            if draft.outline.isEmpty(JSONOutline.root) {
                throw root.invalid(value, "\(type(of: value)) encodes no value at all", at: .none)
            }
        }
        return Bytes(draft.outline.written())
    }
}
