/// What content is, as `Content-Type` says it.
public struct ContentType: Sendable, Hashable, ExpressibleByStringLiteral, CustomStringConvertible {
    public let rawValue: String

    public init(_ rawValue: String) {
        self.rawValue = rawValue
    }

    public init(stringLiteral rawValue: String) {
        self.rawValue = rawValue
    }

    public var description: String { rawValue }

    public static let octetStream: ContentType = "application/octet-stream"
    public static let json: ContentType = "application/json"
    public static let pdf: ContentType = "application/pdf"
    public static let zip: ContentType = "application/zip"
    public static let xml: ContentType = "application/xml"
    public static let plainText: ContentType = "text/plain"
    public static let html: ContentType = "text/html"
    public static let csv: ContentType = "text/csv"
    public static let gif: ContentType = "image/gif"
    public static let jpeg: ContentType = "image/jpeg"
    public static let png: ContentType = "image/png"
    public static let svg: ContentType = "image/svg+xml"
    public static let webp: ContentType = "image/webp"
    public static let mp3: ContentType = "audio/mpeg"
    public static let mp4: ContentType = "video/mp4"
}
