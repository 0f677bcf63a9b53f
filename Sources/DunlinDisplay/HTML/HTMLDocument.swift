public import Dunlin

/// A document that was loaded, ready to be shown.
public struct HTMLDocument: Sendable, Equatable {
    /// As it came, content codings off.
    public var data: Bytes
    public var text: String
    /// What the server says it is; `text/html` if it does not say.
    public var mimeType: String
    /// What `data` was read as, by the name that the WHATWG Encoding Standard has for it.
    public var encoding: String
    /// What relative references in it are relative to: where it was found, after redirects.
    public var baseURL: String
    /// Something in `data` was no text in `encoding`, and was replaced by U+FFFD.
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
