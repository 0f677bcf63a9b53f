extension HTTP {
    /// The target of a request: an absolute URL, or one relative to the session's base.
    ///
    /// Each interpolated value is one path segment and is percent-encoded, so `"users/\(name)"` cannot lead to another
    /// path; `.` and `..` are refused when the request is made. For text that is a URL already, use `Target(url)` or
    /// `\(encoded: text)`.
    public struct Target: Sendable, Hashable {
        public let text: String
        /// The text with every interpolated value replaced by `{}`: the same for all users, fit for a metric's name.
        public let template: String
        /// An interpolated value that may not be a segment.
        package let refused: String?

        public init(_ url: String) {
            text = url
            template = url
            refused = nil
        }

        init(text: String, template: String, refused: String?) {
            self.text = text
            self.template = template
            self.refused = refused
        }
    }
}

extension HTTP.Target: ExpressibleByStringInterpolation {
    public init(stringLiteral value: String) {
        self.init(value)
    }

    public init(stringInterpolation parts: StringInterpolation) {
        self.init(text: parts.text, template: parts.template, refused: parts.refused)
    }

    public struct StringInterpolation: StringInterpolationProtocol {
        var text = ""
        var template = ""
        var refused: String?

        public init(literalCapacity: Int, interpolationCount: Int) {
            text.reserveCapacity(literalCapacity + interpolationCount * 8)
        }

        public mutating func appendLiteral(_ literal: String) {
            text += literal
            template += literal
        }

        public mutating func appendInterpolation(_ value: some CustomStringConvertible) {
            let segment = value.description
            if segment == "." || segment == ".." || segment.isEmpty { refused = refused ?? segment }
            text.appendEscaped(segment, keeping: .unreserved)
            template += "{}"
        }

        /// Text that is percent-encoded already.
        public mutating func appendInterpolation(encoded text: String) {
            self.text += text
            template += "{}"
        }
    }
}
