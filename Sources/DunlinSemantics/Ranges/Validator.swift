public import DunlinTypes

/// A validator, which tells whether new bytes are of the same state as earlier ones (RFC 9110 §8.8): only a strong one,
/// as parts of different states joined are a file that never existed.
public enum Validator: Sendable, Hashable {
    /// An entity tag, never a weak one.
    case entityTag(EntityTag)
    /// A date, only if the response was made long enough after it (`Validator.margin`).
    case lastModified(HTTPDate)

    /// The seconds between the last change and the response from which on the date is strong (§8.8.2.2).
    ///
    /// One is enough if one clock made both, which a client cannot know. RFC 7232 asked for a minute.
    public static let margin: Int64 = 60

    /// Creates a response's validator; nil if it has no strong one.
    ///
    /// If there is a tag, even a weak one, the date does not count (§13.1.5).
    public init?(_ fields: Fields) {
        if fields.contains("etag") {
            guard let tag = fields.soleValue(of: "etag").flatMap({ EntityTag($0) }), !tag.isWeak else { return nil }
            self = .entityTag(tag)
            return
        }
        guard let modified = fields.soleValue(of: "last-modified").flatMap({ HTTPDate($0) }),
            let date = fields.soleValue(of: "date").flatMap({ HTTPDate($0) }),
            date.seconds - modified.seconds >= Self.margin
        else { return nil }
        self = .lastModified(modified)
    }

    /// Reads a text from `description`.
    public init?(_ text: String) {
        if let tag = EntityTag(text) {
            guard !tag.isWeak else { return nil }
            self = .entityTag(tag)
        } else if let date = HTTPDate(Bytes(text)) {
            self = .lastModified(date)
        } else {
            return nil
        }
    }

    /// A response's agreement with this validator.
    public enum Agreement: Sendable, Hashable {
        case same
        case changed
        /// The response says nothing about it.
        case unsaid
    }

    /// Returns whether the response with these fields is of the same state.
    ///
    /// A part must repeat the tag that the whole has (§15.3.7), and need not repeat the date.
    public func agreement(with fields: Fields) -> Agreement {
        switch self {
        case .entityTag(let tag):
            guard fields.contains("etag") else { return .unsaid }
            let other = fields.soleValue(of: "etag").flatMap { EntityTag($0) }
            return other?.isStronglyEqual(to: tag) == true ? .same : .changed
        case .lastModified(let date):
            guard fields.contains("last-modified") else { return .unsaid }
            return fields.soleValue(of: "last-modified").flatMap { HTTPDate($0) } == date ? .same : .changed
        }
    }
}

extension Validator: CustomStringConvertible {
    /// The value for If-Range.
    public var description: String {
        switch self {
        case .entityTag(let tag): tag.description
        case .lastModified(let date): date.description
        }
    }
}
