internal import Dunlin
internal import DunlinSemantics

/// A request as it is compared: without secrets, so that a live one may have others than the one that was recorded.
struct ComparedRequest: Sendable, Equatable {
    /// What a body is compared by.
    enum Body: Sendable, Equatable {
        case none
        /// The archive does not have it.
        case unknown
        case json(DynamicValue)
        /// Pairs in any order.
        case form([String])
        case text(Bytes)
    }

    var method: String
    var origin: String
    var path: String
    var query: String
    /// The values of the fields that are compared, by the names in lower case; nil for one that is absent.
    var fields: [String: String?]
    var body: Body

    /// The parts of a URL, and the same however its host and default port are written.
    static func parts(of url: String) -> (origin: String, path: String, query: String) {
        let text = url.prefix { $0 != "#" }
        let slash = text.utf8.firstIndex(of: UInt8(ascii: "/")) ?? text.endIndex
        let host = text[slash...].utf8.drop { $0 == UInt8(ascii: "/") }
        let ends = [UInt8(ascii: "/"), UInt8(ascii: "?")]
        guard let end = host.firstIndex(where: { ends.contains($0) }) else { return (text.lowercased(), "/", "") }
        var origin = text[..<end].lowercased()
        for (scheme, port) in [("http://", ":80"), ("https://", ":443")]
        where origin.hasPrefix(scheme) && origin.hasSuffix(port) {
            origin.removeLast(port.count)
        }
        let mark = text[end...].firstIndex(of: "?") ?? text.endIndex
        let path = end == mark ? "/" : String(text[end..<mark])
        return (origin, path, String(text[mark...].dropFirst()))
    }

    static func body(_ bytes: Bytes?, _ mediaType: String, _ redaction: Redaction) -> Body {
        guard let bytes else { return .unknown }
        if bytes.isEmpty { return .none }
        let text: String
        switch BodyForm(of: bytes, mediaType) {
        case .text(let readable): text = readable
        case .binary: return .text(bytes)
        case .unreadable: return .unknown
        }
        let type = mediaType.lowercased()
        if type.hasPrefix("multipart/") { return .text(Bytes(redaction.body(text, mediaType).text.withoutBoundary)) }
        let shown = redaction.body(text, mediaType).text
        if type.hasPrefix("application/x-www-form-urlencoded") {
            return .form(shown.split(separator: "&").map(String.init).sorted())
        }
        if type.contains("json"), let value = DynamicValue(json: shown) {
            return .json(value.sorted)
        }
        return .text(Bytes(shown))
    }

    /// What is not the same as in the recorded request, in words; empty if all is.
    func differences(from recorded: ComparedRequest) -> [String] {
        var found: [String] = []
        func compare(_ name: String, _ live: String, _ recorded: String) {
            if live != recorded { found.append("\(name): \(recorded.shown) was recorded, \(live.shown) is asked for") }
        }
        compare("method", method, recorded.method)
        compare("origin", origin, recorded.origin)
        compare("path", path, recorded.path)
        compare("query", query, recorded.query)
        for (name, value) in fields.sorted(by: { $0.key < $1.key }) {
            guard let known = recorded.fields[name], value != known else { continue }
            compare("field \(name)", value ?? "none", known ?? "none")
        }
        if body != recorded.body, recorded.body != .unknown {
            compare("body", body.text, recorded.body.text)
        }
        return found
    }
}

extension String {
    /// A multipart body whose boundary, which differs each time, is left out. It begins with it.
    fileprivate var withoutBoundary: String {
        let boundary = prefix { $0 != "\r\n" && $0 != "\n" }
        return boundary.count > 2
            ? split(separator: boundary, omittingEmptySubsequences: false).joined(separator: "--") : self
    }

    fileprivate var shown: String {
        let text = VisibleText.of(self)
        return text.count > 200 ? "“\(text.prefix(200))…”" : "“\(text)”"
    }
}

extension ComparedRequest.Body {
    fileprivate var text: String {
        switch self {
        case .none: "none"
        case .unknown: "unknown"
        case .json(let value): value.json ?? "JSON"
        case .form(let pairs): pairs.joined(separator: "&")
        case .text(let bytes): String(validating: bytes) ?? "\(bytes.count) bytes"
        }
    }
}

extension DynamicValue {
    /// The same value with the members of all objects in order of their keys.
    fileprivate var sorted: DynamicValue {
        switch self {
        case .array(let elements): .array(elements.map(\.sorted))
        case .object(let members):
            .object(
                Members(members.map { Members.Member(key: $0.key, value: $0.value.sorted) }.sortedByKey()))
        case .null, .bool, .number, .string, .data, .date, .set: self
        }
    }
}
