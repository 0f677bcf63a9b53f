internal import DunlinSemantics

/// A serializer for text, in the charset that the response declares, or UTF-8 if it declares none.
///
/// If no charset is declared, a byte order mark determines it; the mark is not part of the text. Text that is invalid
/// in its charset throws a `NetworkError` with code `unreadableContent`.
public struct StringSerializer: AdjustableSerializer, Hashable, Codable {
    public var rules: HTTP.ResponseRules
    /// The charset of text that declares none, by its IANA name.
    public var assumedCharset: String

    public init(assuming charset: String = "utf-8", rules: HTTP.ResponseRules = .success) {
        assumedCharset = charset
        self.rules = rules
    }

    public func serialize(_ response: HTTP.WholeResponse) throws -> String {
        let charset = response.declaredCharset ?? response.body.markedCharset ?? Charset(assumedCharset)
        return try response.text(in: charset)
    }
}

extension ResponseSerializer where Self == StringSerializer {
    public static var string: StringSerializer { StringSerializer() }

    public static func string(assuming charset: String) -> StringSerializer { StringSerializer(assuming: charset) }
}

extension ResponseHead {
    /// The charset that the Content-Type declares; nil if none.
    package var charset: String? {
        fields["content-type"].flatMap { MediaType($0)?["charset"] }
    }

    /// The declared type and subtype, in lower case; nil if none.
    package var mediaType: String? {
        fields["content-type"].flatMap { MediaType($0)?.essence }
    }
}

extension HTTP.WholeResponse {
    /// The charset that the Content-Type declares; nil if none.
    var declaredCharset: Charset? {
        charset.map { Charset($0) }
    }

    func text(in charset: Charset) throws -> String {
        if let text = charset.text(body) { return text }
        let reason =
            charset.isKnown ? "the text is not valid \(charset.name)" : "the charset \(charset.name) is not supported"
        throw NetworkError(.unreadableContent, reason, refusing: self)
    }
}
