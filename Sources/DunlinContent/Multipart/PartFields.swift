/// The fields that precede a part's bytes.
enum PartFields {
    static func make(_ name: String, _ fileName: String? = nil, _ type: HTTP.ContentType? = nil) -> Fields {
        var disposition = "form-data; name=\"\(escaped(name))\""
        if let fileName { disposition += "; filename=\"\(escaped(fileName))\"" }
        var fields: Fields = ["Content-Disposition": disposition]
        if let type { fields.append(name: "Content-Type", value: type.rawValue) }
        return fields
    }

    /// Escapes only what would end the quotes or the line (WHATWG HTML, "multipart form data"); the rest is UTF-8.
    static func escaped(_ name: String) -> String {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(name.utf8.count)
        for byte in name.utf8 {
            switch byte {
            case UInt8(ascii: "\""): bytes.append(contentsOf: "%22".utf8)
            case UInt8(ascii: "\r"): bytes.append(contentsOf: "%0D".utf8)
            case UInt8(ascii: "\n"): bytes.append(contentsOf: "%0A".utf8)
            // No field may contain NUL, and readers disagree about its meaning.
            case 0: bytes.append(contentsOf: "%00".utf8)
            default: bytes.append(byte)
            }
        }
        return String(decoding: bytes, as: UTF8.self)
    }
}
