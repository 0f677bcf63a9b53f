public import FoundationEssentials

extension HTTP {
    /// The target of a request: an absolute URL, or one relative to the session's base.
    ///
    /// Each interpolated value is one path segment and is percent-encoded, so `"users/\(name)"` cannot lead to another
    /// path; `.` and `..` are refused when the request is made. After a `?` a value is part of a query:
    /// `"search?q=\(text)"`. For text that is a URL already, use `.url(text)` or `\(encoded: text)`.
    public struct Target: Sendable, Hashable {
        public let text: String
        /// The text with a placeholder for every value, `users/{}` or `users/{id}`: the same for all users, fit for a
        /// metric's name.
        public let template: String
        /// Why no request can be made of it.
        package let problem: String?

        /// Text that is a URL already, whole or relative to the session's base.
        public init(_ url: String) {
            self.init(text: url, template: url, problem: nil)
        }

        public init(_ url: URL) {
            self.init(url.absoluteString)
        }

        /// A template with names, and their values: `Target(template: "users/{id}", ["id": 42])`. A value that is
        /// missing, or one that the template does not name, is refused when the request is made.
        public init(template: String, _ values: [String: any CustomStringConvertible & Sendable]) {
            var parts = StringInterpolation(literalCapacity: template.utf8.count, interpolationCount: values.count)
            parts.append(template, values)
            self.init(stringInterpolation: parts)
        }

        private init(text: String, template: String, problem: String?) {
            self.text = text
            self.template = template
            self.problem = problem
        }

        /// Text that is a URL already, whole or relative to the session's base.
        public static func url(_ text: String) -> Target { Target(text) }
        public static func url(_ url: URL) -> Target { Target(url) }
    }
}

extension HTTP.Target: ExpressibleByStringInterpolation {
    public init(stringLiteral value: String) {
        self.init(value)
    }

    public init(stringInterpolation parts: StringInterpolation) {
        self.init(text: parts.text, template: parts.template, problem: parts.problem)
    }

    public struct StringInterpolation: StringInterpolationProtocol {
        fileprivate var text = ""
        fileprivate var template = ""
        fileprivate var problem: String?
        /// Whether the path has ended.
        private var isAfterPath = false

        public init(literalCapacity: Int, interpolationCount: Int) {
            text.reserveCapacity(literalCapacity + interpolationCount * 8)
        }

        public mutating func appendLiteral(_ literal: String) {
            append(encoded: literal)
            template += literal
        }

        public mutating func appendInterpolation(_ value: some CustomStringConvertible) {
            append(value.description, name: "")
        }

        /// A value whose name stands in the template: `"users/\(id, name: "id")"` has `users/{id}`.
        public mutating func appendInterpolation(_ value: some CustomStringConvertible, name: String) {
            append(value.description, name: name)
        }

        /// Text that is percent-encoded already.
        public mutating func appendInterpolation(encoded text: String) {
            append(encoded: text)
            template += "{}"
        }

        private mutating func append(encoded text: String) {
            self.text += text
            isAfterPath = isAfterPath || text.utf8.contains { $0 == UInt8(ascii: "?") || $0 == UInt8(ascii: "#") }
        }

        private mutating func append(_ value: String, name: String) {
            template += "{\(name)}"
            if isAfterPath {
                text.appendEscaped(value, keeping: .query)
                return
            }
            if value == "." || value == ".." || value.isEmpty {
                refuse("\"\(value)\" may not be a segment")
            } else if text.isEmpty, value.contains("://") {
                refuse("a value would be escaped, and this one is a URL; write \\(encoded: …) or .url(…)")
            }
            text.appendEscaped(value, keeping: .unreserved)
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
                    append(value.description, name: name)
                } else {
                    self.template += "{\(name)}"
                    refuse("there is no value for {\(name)}")
                }
                unused.remove(name)
                rest = rest[rest.index(after: end)...]
            }
            appendLiteral(String(rest))
            if let name = unused.min() { refuse("there is a value for {\(name)}, and no {\(name)}") }
        }
    }
}
