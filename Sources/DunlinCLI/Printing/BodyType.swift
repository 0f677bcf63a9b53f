/// What a body is, by its type and its first bytes.
enum BodyType: Equatable {
    case json
    /// Many texts of JSON, each in its line.
    case jsonLines
    case text
    /// Nothing that can be read on a terminal.
    case binary

    private static let lines: Set<Substring> = [
        "application/x-ndjson", "application/ndjson", "application/jsonl", "application/x-jsonlines",
        "application/json-lines", "application/stream+json",
    ]

    init(_ contentType: String?, first: some Collection<UInt8>) {
        let name = (contentType ?? "").lowercased().prefix { $0 != ";" && $0 != " " }
        let isPicture = ["image/", "audio/", "video/", "font/"].contains(where: name.hasPrefix)
        if isPicture && !name.hasSuffix("+xml") || Self.isBinary(first.prefix(1024)) {
            self = .binary
        } else if Self.lines.contains(name) {
            self = .jsonLines
        } else if name == "application/json" || name == "text/json" || name.hasSuffix("+json") {
            self = .json
        } else {
            self = .text
        }
    }

    /// Whether a zero is among them, the mark of gzip, or many controls that no text has.
    private static func isBinary(_ bytes: some Collection<UInt8>) -> Bool {
        if bytes.contains(0) || bytes.starts(with: [0x1F, 0x8B]) { return true }
        // Line ends, tabs, form feeds and escape sequences are a text's.
        let controls = bytes.count { $0 < 0x20 && !(0x08...0x0D).contains($0) && $0 != 0x1B }
        return controls * 10 > bytes.count
    }
}
