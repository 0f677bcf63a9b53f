/// The stored bytes of a representation, as they came over the wire: with its content codings.
package enum CachedBody: Sendable, Hashable {
    case whole(Int)
    /// A part: the bytes `range`, and the whole length if known. At least one byte is there, and at least one missing.
    case part(Range<Int>, complete: Int?)

    /// The stored bytes.
    package var range: Range<Int> {
        switch self {
        case .whole(let length): 0..<length
        case .part(let range, _): range
        }
    }

    /// The length of the representation, if it is known.
    package var complete: Int? {
        switch self {
        case .whole(let length): length
        case .part(_, let complete): complete
        }
    }

    package var isWhole: Bool {
        if case .whole = self { true } else { false }
    }

    /// Returns the body for a range of a representation, whole if it covers everything.
    static func of(_ range: Range<Int>, complete: Int?) -> CachedBody {
        range.lowerBound == 0 && range.upperBound == complete
            ? .whole(range.upperBound) : .part(range, complete: complete)
    }
}
