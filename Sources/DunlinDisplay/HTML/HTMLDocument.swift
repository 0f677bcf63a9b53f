public import Dunlin

/// A loaded document, ready to be shown.
public struct HTMLDocument: Sendable, Equatable {
    /// The bytes as received, with content codings removed.
    public var data: Bytes
    public var text: String
    /// The type that the server declared; `text/html` without one.
    public var mimeType: String
    /// The encoding that `data` was read in, by its name in the WHATWG Encoding Standard.
    public var encoding: String
    /// The base of relative references: the document's URL after redirects.
    public var baseURL: String
    /// Whether some of `data` was invalid in `encoding` and was replaced by U+FFFD.
    public var isLossy: Bool

    public init(
        data: Bytes, text: String, mimeType: String = "text/html", encoding: String = "UTF-8", baseURL: String,
        isLossy: Bool = false
    ) {
        self.data = data
        self.text = text
        self.mimeType = mimeType
        self.encoding = encoding
        self.baseURL = baseURL
        self.isLossy = isLossy
    }

    init(_ response: HTTPSession.Response<Bytes>) {
        let text = HTMLText(response.value, declared: response.charset)
        self.init(
            data: response.value, text: text.text, mimeType: response.mediaType ?? "text/html",
            encoding: text.encoding, baseURL: response.url, isLossy: text.isLossy)
    }
}
