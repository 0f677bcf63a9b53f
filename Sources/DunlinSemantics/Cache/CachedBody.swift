/// How much of a representation is stored, as it came over the wire: with its content codings.
package enum CachedBody: Sendable, Hashable {
    case whole(Int)
    /// Bytes `range` of it, and how long it is if that is known. There is at least one, and at least one is missing.
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

    /// `range` of a representation: all of it where that is so.
    static func of(_ range: Range<Int>, complete: Int?) -> CachedBody {
        range.lowerBound == 0 && range.upperBound == complete
            ? .whole(range.upperBound) : .part(range, complete: complete)
    }
}
