public import DunlinTypes

/// A Content-Disposition field (RFC 6266), as far as a file's name goes.
///
/// Read forgivingly, as browsers do, for whatever it says goes through `FileName.sanitized` before it names a file:
///
/// - `filename*` (RFC 8187) goes before `filename`, unless it cannot be decoded;
/// - of a parameter that stands there twice the first one counts;
/// - a name without quotes reaches to the next semicolon;
/// - a quoted one that is no UTF-8 is Latin-1, as it was of old; `%20` and `=?utf-8?` are left as they are.
public struct ContentDisposition: Sendable, Equatable {
    /// The kind in lower case, such as `inline` or `attachment`.
    public let kind: String
    /// The file's name as the server wrote it: not safe as a path.
    public let filename: String?

    /// Reads a field; nil without a kind.
    public init?(_ value: Bytes) {
        var reader = ValueReader(value)
        reader.skipBlanks()
        guard let kind = reader.token() else { return nil }
        var plain: String?
        var extended: String?
        while Self.skip(to: ";", &reader) {
            reader.skipBlanks()
            guard let name = reader.token()?.lowercased() else { continue }
            reader.skipBlanks()
            guard reader.take("=") else { continue }
            reader.skipBlanks()
            switch name {
            case "filename" where plain == nil: plain = Self.plain(Self.value(&reader))
            case "filename*" where extended == nil: extended = Self.extended(Self.value(&reader))
            default: _ = Self.value(&reader)
            }
        }
        self.kind = kind.lowercased()
        filename = extended ?? plain
    }

    /// Reads a response's fields: the first one that names a file, or else the first.
    public init?(_ fields: Fields) {
        let all = fields.rawValues(of: "content-disposition").compactMap { ContentDisposition($0) }
        guard let chosen = all.first(where: { $0.filename != nil }) ?? all.first else { return nil }
        self = chosen
    }
}

extension ContentDisposition {
    private static func skip(to separator: Unicode.Scalar, _ reader: inout ValueReader) -> Bool {
        _ = reader.takeAll { $0 != UInt8(ascii: separator) }
        return reader.take(separator)
    }

    private static func value(_ reader: inout ValueReader) -> [UInt8] {
        if let quoted = reader.quotedString() { return quoted }
        return Array(reader.takeAll { $0 != UInt8(ascii: ";") })
    }

    private static func plain(_ value: [UInt8]) -> String {
        String(validating: value, as: UTF8.self) ?? latin1(value)
    }

    /// Decodes `UTF-8'en'percent-encoded`; nil if it is something else.
    private static func extended(_ value: [UInt8]) -> String? {
        let parts = value.split(separator: UInt8(ascii: "'"), maxSplits: 2, omittingEmptySubsequences: false)
        guard parts.count == 3 else { return nil }
        let text = Array(parts[2])
        guard let octets = PercentEncoding.octets(text.span, in: text.indices) else { return nil }
        switch String(decoding: parts[0], as: UTF8.self).lowercased() {
        case "utf-8": return String(validating: octets, as: UTF8.self)
        case "iso-8859-1": return latin1(octets)
        default: return nil
        }
    }

    private static func latin1(_ bytes: [UInt8]) -> String {
        String(String.UnicodeScalarView(bytes.map { Unicode.Scalar($0) }))
    }
}
