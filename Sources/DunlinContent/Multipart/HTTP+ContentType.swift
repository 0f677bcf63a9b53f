extension HTTP {
    /// A content type, as `Content-Type` names it.
    public struct ContentType: Sendable, Hashable, ExpressibleByStringLiteral, CustomStringConvertible {
        public let rawValue: String

        public init(_ rawValue: String) {
            self.rawValue = rawValue
        }

        public init(stringLiteral rawValue: String) {
            self.rawValue = rawValue
        }

        public var description: String { rawValue }

        public static let octetStream: HTTP.ContentType = "application/octet-stream"
        public static let json: HTTP.ContentType = "application/json"
        public static let pdf: HTTP.ContentType = "application/pdf"
        public static let zip: HTTP.ContentType = "application/zip"
        public static let xml: HTTP.ContentType = "application/xml"
        public static let plainText: HTTP.ContentType = "text/plain"
        public static let html: HTTP.ContentType = "text/html"
        public static let csv: HTTP.ContentType = "text/csv"
        public static let gif: HTTP.ContentType = "image/gif"
        public static let jpeg: HTTP.ContentType = "image/jpeg"
        public static let png: HTTP.ContentType = "image/png"
        public static let svg: HTTP.ContentType = "image/svg+xml"
        public static let webp: HTTP.ContentType = "image/webp"
        public static let mp3: HTTP.ContentType = "audio/mpeg"
        public static let mp4: HTTP.ContentType = "video/mp4"
    }
}
