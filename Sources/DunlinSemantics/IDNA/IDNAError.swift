internal import DunlinTypes

/// Why a host name has no ASCII form.
public struct IDNAError: Error, Sendable, Hashable {
    public enum Problem: Sendable, Hashable {
        /// UTS 46 does not allow this code point, or the rules for host names (STD 3) do not.
        case disallowed(Unicode.Scalar)
        /// `xn--` is followed by invalid Punycode, Punycode of plain ASCII, or something that is not ASCII.
        case invalidPunycode
        /// The Punycode's text would be changed by the mapping or NFC.
        case notNormalized
        case leadingMark(Unicode.Scalar)
        /// A zero-width joiner or non-joiner where no script needs one (RFC 5892 appendix A).
        case misplacedJoiner(Unicode.Scalar)
        /// Left-to-right and right-to-left characters mixed against RFC 5893 §2.
        case mixedDirections
        case emptyLabel
        /// The label has more than 63 bytes in ASCII form.
        case labelTooLong
        /// The name has more than 253 bytes in ASCII form.
        case nameTooLong
    }

    public let problem: Problem
    /// The label with the problem, or the whole name.
    public let label: String

    public init(problem: Problem, label: String) {
        self.problem = problem
        self.label = label
    }
}

extension IDNAError: CustomStringConvertible {
    /// The text of the error. The label is quoted with its control characters escaped, and cut to a bounded length.
    public var description: String {
        "\(VisibleText.of(String(reflecting: label.count > 64 ? label.prefix(64) + "…" : label))): \(problem)"
    }
}

extension IDNAError.Problem: CustomStringConvertible {
    public var description: String {
        switch self {
        case .disallowed(let scalar): "\(scalar.codePoint) is not allowed in a host name"
        case .invalidPunycode: "the label is not valid Punycode"
        case .notNormalized: "the Punycode stands for a label in a form that is not canonical"
        case .leadingMark(let scalar): "the label begins with the combining mark \(scalar.codePoint)"
        case .misplacedJoiner(let scalar): "the joiner \(scalar.codePoint) is not allowed where it stands"
        case .mixedDirections: "the label mixes left-to-right and right-to-left characters"
        case .emptyLabel: "the name has an empty label"
        case .labelTooLong: "the label is longer than 63 bytes"
        case .nameTooLong: "the name is longer than 253 bytes"
        }
    }
}
