internal import DunlinSemantics
public import FoundationEssentials

extension HTTP {
    /// The target of a request: an absolute URL, or one relative to the session's base.
    ///
    /// Each interpolated value is a path segment or part of one, `"users/\(name)"` or `"report\(suffix).pdf"`, and is
    /// percent-encoded, so it cannot lead to another path. If a segment with a value turns out empty, `.` or `..`, the
    /// request is refused when it is made, as it is if interpolated bytes are not UTF-8. After a `?`, a value is part
    /// of a query: `"search?q=\(text)"`. For text that is a URL already, use `.url(text)` or `\(encoded: text)`.
    public struct Target: Sendable, Hashable {
        public let text: String
        /// The text with a placeholder for every value, `users/{}` or `users/{id}`. If `hasTemplate`, it is the same
        /// for all values, and so suits as a metric's name.
        public let template: String
        /// Whether the template was written in the program, as a literal or a template with values. Of a target made
        /// from text or a `URL`, the template is all of its text, and may differ with every request.
        public let hasTemplate: Bool
        /// Why no request can be made from it; nil if one can.
        package let problem: String?

        /// Creates a target from text that is a URL already, absolute or relative to the session's base.
        public init(_ url: String) {
            self.init(text: url, template: url, hasTemplate: false, problem: nil)
        }

        public init(_ url: URL) {
            self.init(url.absoluteString)
        }

        /// Creates a target from a template and its values: `Target(template: "users/{id}", ["id": 42])`. A missing
        /// value, or one that the template does not use, is refused when the request is made.
        public init(template: String, _ values: [String: any CustomStringConvertible & Sendable]) {
            var parts = StringInterpolation(literalCapacity: template.utf8.count, interpolationCount: values.count)
            parts.append(template, values)
            self.init(stringInterpolation: parts)
        }

        private init(text: String, template: String, hasTemplate: Bool = true, problem: String?) {
            self.text = text
            self.template = template
            self.hasTemplate = hasTemplate
            self.problem = problem
        }

        /// The target with the scheme by which the handshake of a WebSocket goes.
        package var overHTTP: Target {
            Target(
                text: WebSocketScheme.overHTTP(text), template: WebSocketScheme.overHTTP(template),
                hasTemplate: hasTemplate, problem: problem)
        }

        /// A target of text that is a URL already, absolute or relative to the session's base.
        public static func url(_ text: String) -> Target { Target(text) }
        public static func url(_ url: URL) -> Target { Target(url) }

        /// Targets are equal if their requests are, however they were written.
        public static func == (left: Target, right: Target) -> Bool {
            left.text == right.text && left.template == right.template && left.problem == right.problem
        }

        public func hash(into hasher: inout Hasher) {
            hasher.combine(text)
            hasher.combine(template)
        }
    }
}

extension HTTP.Target: ExpressibleByStringInterpolation {
    public init(stringLiteral value: String) {
        self.init(text: value, template: value, problem: nil)
    }

    public init(stringInterpolation parts: StringInterpolation) {
        var parts = parts
        parts.end()
        self.init(text: parts.text, template: parts.template, problem: parts.problem)
    }

    public struct StringInterpolation: StringInterpolationProtocol {
        fileprivate var text = ""
        fileprivate var template = ""
        fileprivate var problem: String?
        /// Whether the path has ended.
        private var isAfterPath = false
        /// Where the current segment begins in the text.
        private var segmentStart = 0
        private var segmentHasValue = false

        public init(literalCapacity: Int, interpolationCount: Int) {
            text.reserveCapacity(literalCapacity + interpolationCount * 8)
        }

        public mutating func appendLiteral(_ literal: String) {
            append(encoded: literal)
            template += literal
        }

        public mutating func appendInterpolation(_ value: some CustomStringConvertible) {
            append(value, name: "")
        }

        /// Appends a value with a name for the template: `"users/\(id, name: "id")"` has the template `users/{id}`.
        public mutating func appendInterpolation(_ value: some CustomStringConvertible, name: String) {
            append(value, name: name)
        }

        /// Appends text that is percent-encoded already.
        public mutating func appendInterpolation(encoded text: String) {
            append(encoded: text)
            template += "{}"
        }

        private mutating func append(encoded text: String) {
            let start = self.text.utf8.count
            self.text += text
            if isAfterPath { return }
            for (offset, byte) in text.utf8.enumerated() {
                switch byte {
                case UInt8(ascii: "/"): endSegment(at: start + offset)
                case UInt8(ascii: "?"), UInt8(ascii: "#"):
                    endSegment(at: start + offset)
                    isAfterPath = true
                    return
                default: continue
                }
            }
        }

        private mutating func append(_ value: some CustomStringConvertible, name: String) {
            let bytes = value as? Bytes ?? (value as? Data).map { Bytes($0) }
            let value = bytes.map { String($0) } ?? value.description
            if let bytes, !value.utf8.elementsEqual(bytes) { refuse("the interpolated bytes are not UTF-8") }
            template += "{\(name)}"
            if isAfterPath {
                text.appendEscaped(value, keeping: .query)
                return
            }
            if text.isEmpty, value.contains("://") {
                refuse(
                    "the interpolated value is a URL, and would be escaped; write `\\(encoded: …)` or `.url(…)` instead"
                )
            }
            segmentHasValue = true
            text.appendEscaped(value, keeping: .unreserved)
        }

        fileprivate mutating func end() {
            if !isAfterPath { endSegment(at: text.utf8.count) }
        }

        /// Checks a complete segment: text that may not be a segment may still be part of one.
        private mutating func endSegment(at end: Int) {
            if segmentHasValue {
                let bytes = text.utf8
                let start = bytes.index(bytes.startIndex, offsetBy: segmentStart)
                let segment = text[start..<bytes.index(bytes.startIndex, offsetBy: end)]
                if Self.isEmptyOrDots(segment.utf8) {
                    refuse("\"\(segment)\" is not allowed as a path segment: it may lead to another path")
                }
            }
            segmentStart = end + 1
            segmentHasValue = false
        }

        /// Whether any server may read the segment as empty, `.` or `..`: some decode an escaped dot, and some ignore a
        /// segment's parameters (RFC 3986 §3.3), such as `..;a=1`.
        private static func isEmptyOrDots(_ segment: Substring.UTF8View) -> Bool {
            var rest = segment.prefix { $0 != UInt8(ascii: ";") }
            var dots = 0
            while let first = rest.first {
                if first == UInt8(ascii: ".") {
                    rest.removeFirst()
                } else if rest.starts(with: "%2e".utf8) || rest.starts(with: "%2E".utf8) {
                    rest.removeFirst(3)
                } else {
                    return false
                }
                dots += 1
            }
            return dots <= 2
        }

        private mutating func refuse(_ reason: String) {
            problem = problem ?? reason
        }

        fileprivate mutating func append(_ template: String, _ values: [String: any CustomStringConvertible]) {
            var unused = Set(values.keys)
            var rest = template[...]
            while let start = rest.firstIndex(of: "{"), let end = rest[start...].firstIndex(of: "}") {
                appendLiteral(String(rest[..<start]))
                let name = String(rest[rest.index(after: start)..<end])
                if let value = values[name] {
                    append(value, name: name)
                } else {
                    self.template += "{\(name)}"
                    refuse("there is no value for {\(name)}")
                }
                unused.remove(name)
                rest = rest[rest.index(after: end)...]
            }
            appendLiteral(String(rest))
            if let name = unused.min() { refuse("there is a value for {\(name)}, but the template has no {\(name)}") }
        }
    }
}
