/// The body as text: UTF-8, or what the response declares.
public struct StringSerializer: ResponseSerializer {
    public init() {}

    /// Throws for text that is not what it says it is, and for encodings other than UTF-8, US-ASCII and ISO-8859-1.
    public func serialize(_ response: HTTPSession.Response<Bytes>) throws -> String {
        let charset = Self.charset(of: response.fields["content-type"]) ?? "utf-8"
        let text: String?
        switch charset {
        case "utf-8", "utf8", "us-ascii", "ascii":
            text = String(validating: response.body.array, as: UTF8.self)
        case "iso-8859-1", "latin1":
            text = String(String.UnicodeScalarView(response.body.map { Unicode.Scalar($0) }))
        default:
            throw NetworkError(
                .unacceptableContentType, "text in \(charset) is not understood", requestMayHaveBeenSent: true,
                response: response.head)
        }
        guard let text else {
            throw NetworkError(
                .unacceptableContentType, "the text is not valid \(charset)", requestMayHaveBeenSent: true,
                response: response.head)
        }
        return text
    }

    private static func charset(of contentType: String?) -> String? {
        guard let parameters = contentType?.split(separator: ";").dropFirst() else { return nil }
        for parameter in parameters {
            let pair = parameter.split(separator: "=", maxSplits: 1)
            guard pair.count == 2, pair[0].filter({ $0 != " " }).lowercased() == "charset" else { continue }
            return pair[1].filter { $0 != " " && $0 != "\"" }.lowercased()
        }
        return nil
    }
}

extension ResponseSerializer where Self == StringSerializer {
    public static var string: StringSerializer { StringSerializer() }
}
