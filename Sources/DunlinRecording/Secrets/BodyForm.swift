internal import Dunlin
internal import DunlinSemantics

/// What the bytes of a body are, as far as somebody can look for secrets in them.
enum BodyForm {
    /// UTF-8, in which ASCII is what it looks like.
    case text(String)
    /// Bytes that by their type are no text.
    case binary
    /// Text in another encoding, or what may be.
    case unreadable

    init(of bytes: Bytes, _ mediaType: String) {
        let type = MediaType(mediaType)
        // UTF-16 has a NUL in each character of ASCII, and may pass for UTF-8.
        if !bytes.contains(0), Self.isLikeASCII(type?["charset"]), let text = String(validating: bytes) {
            self = .text(text)
        } else {
            self = Self.isBinary(type?.essence ?? "") ? .binary : .unreadable
        }
    }

    /// Whether each character of ASCII, and no other, is its byte.
    private static func isLikeASCII(_ charset: String?) -> Bool {
        guard let charset = charset?.lowercased() else { return true }
        return ["utf-8", "utf8", "us-ascii", "ascii", "latin1"].contains(charset)
            || ["iso-8859-", "windows-125"].contains { charset.hasPrefix($0) }
    }

    private static func isBinary(_ type: String) -> Bool {
        // An image may be XML.
        if type.hasSuffix("xml") || type.hasSuffix("json") { return false }
        let name = type.drop { $0 != "/" }.dropFirst()
        return ["image/", "audio/", "video/", "font/"].contains { type.hasPrefix($0) }
            || type.hasPrefix("application/")
                && (binaryNames.contains(String(name.hasPrefix("x-") ? name.dropFirst(2) : name))
                    || binaryEnds.contains { name.hasSuffix($0) } || binaryStarts.contains { name.hasPrefix($0) })
    }

    private static let binaryNames: Set<String> = [
        "octet-stream", "pdf", "wasm", "zip", "gzip", "zstd", "bzip2", "xz", "tar", "7z-compressed", "brotli",
        "java-archive", "protobuf", "grpc", "cbor", "msgpack", "msword", "ogg",
    ]
    private static let binaryEnds = ["+zip", "+gzip", "+cbor", "+protobuf", "+msgpack", "+proto", ".protobuf"]
    private static let binaryStarts = ["vnd.ms-", "vnd.openxmlformats-", "vnd.oasis.opendocument."]
}
