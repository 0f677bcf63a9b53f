public import DunlinTypes

/// By what a client knows that bytes it gets are of the same state as bytes it has (RFC 9110 §8.8): strong ones only,
/// for parts of different states put together are a file that nobody ever had.
public enum Validator: Sendable, Hashable {
    /// Never a weak one.
    case entityTag(EntityTag)
    /// Only if the server said it long enough after (`Validator.margin`).
    case lastModified(HTTPDate)

    /// How many seconds after its last change a response must have been made for the date to be strong (§8.8.2.2).
    ///
    /// One would do if the same clock made both; that cannot be seen from here. RFC 7232 asked for a minute.
    public static let margin: Int64 = 60

    /// The validator of a response; nil if it has none that is strong.
    ///
    /// Where there is a tag, the date does not count, however weak the tag is (§13.1.5).
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

    /// Reads what `description` wrote.
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

    /// What a response says of this validator.
    public enum Agreement: Sendable, Hashable {
        case same
        case changed
        /// Nothing either way.
        case unsaid
    }

    /// Whether the response with these fields is of the same state.
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
    /// What stands in If-Range.
    public var description: String {
        switch self {
        case .entityTag(let tag): tag.description
        case .lastModified(let date): date.description
        }
    }
}
