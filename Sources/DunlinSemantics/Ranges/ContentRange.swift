public import DunlinTypes

/// A Content-Range field in bytes (RFC 9110 §14.4): the part that a response holds, and of what.
public enum ContentRange: Sendable, Hashable {
    /// A part: `bytes 0-99/200` is `0..<100` of 200; `complete` is nil for `*`.
    case part(Range<Int>, complete: Int?)
    /// No part: for `bytes */200`, nothing of the requested range exists.
    case unsatisfied(complete: Int)

    /// Reads a field; nil for other units, for an invalid range, and for one that ends before it begins or beyond the
    /// whole.
    public init?(_ value: Bytes) {
        var reader = ValueReader(value)
        guard reader.token()?.lowercased() == "bytes", reader.take(" ") else { return nil }
        if reader.take("*") {
            guard reader.take("/"), let complete = reader.number(), reader.isAtEnd else { return nil }
            self = .unsatisfied(complete: complete)
            return
        }
        guard let first = reader.number(), reader.take("-"), let last = reader.number(), reader.take("/"),
            first <= last, last < Int.max
        else { return nil }
        if reader.take("*") {
            guard reader.isAtEnd else { return nil }
            self = .part(first..<last + 1, complete: nil)
        } else {
            guard let complete = reader.number(), reader.isAtEnd, last < complete else { return nil }
            self = .part(first..<last + 1, complete: complete)
        }
    }

    /// Reads a response's field; nil also if several differ.
    public init?(_ fields: Fields) {
        guard let value = fields.soleValue(of: "content-range") else { return nil }
        self.init(value)
    }

    /// The length of the whole, if the server states it.
    public var complete: Int? {
        switch self {
        case .part(_, let complete): complete
        case .unsatisfied(let complete): complete
        }
    }
}

extension ContentRange: CustomStringConvertible {
    public var description: String {
        switch self {
        case .part(let range, let complete):
            "bytes \(range.lowerBound)-\(range.upperBound - 1)/\(complete.map(String.init) ?? "*")"
        case .unsatisfied(let complete): "bytes */\(complete)"
        }
    }
}

extension Fields {
    /// Whether partial content (206) with these fields may be all of it: there is no Content-Range that says otherwise.
    package var allowsWholeContent: Bool {
        guard contains("content-range") else { return true }
        guard case .part(let range, let complete) = ContentRange(self) else { return false }
        return range.lowerBound == 0 && range.upperBound == complete
    }
}
