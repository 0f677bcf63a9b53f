/// What a label must be beyond being mapped: UTS 46 §4.1, with CheckJoiners and CheckBidi.
///
/// Labels are judged in Unicode form. ASCII labels pass all but the rule of directions, which looks at the whole name.
enum LabelRules {
    /// Checks a label that has a scalar beyond ASCII; `text` is what an error calls it.
    static func check(_ label: [Unicode.Scalar], of text: String, allowingUnderscores: Bool) throws(IDNAError) {
        if let first = label.first, isMark(first) { throw IDNAError(problem: .leadingMark(first), label: text) }
        for scalar in label where !isAllowed(scalar, allowingUnderscores: allowingUnderscores) {
            throw IDNAError(problem: .disallowed(scalar), label: text)
        }
        if label.starts(with: "xn--".unicodeScalars) { throw IDNAError(problem: .invalidPunycode, label: text) }
        for index in label.indices where !isJoinerInPlace(label, at: index) {
            throw IDNAError(problem: .misplacedJoiner(label[index]), label: text)
        }
    }

    /// STD 3 for ASCII, where hosts of one's own network may also have underscores; UTS 46 for the rest.
    static func isAllowed(_ scalar: Unicode.Scalar, allowingUnderscores: Bool) -> Bool {
        switch scalar {
        case "a"..."z", "0"..."9", "-": true
        case "_": allowingUnderscores
        default: !scalar.isASCII && IDNAMapping.isValid(scalar)
        }
    }

    private static func isMark(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.properties.generalCategory {
        case .nonspacingMark, .spacingMark, .enclosingMark: true
        default: false
        }
    }

    // MARK: Joiners (RFC 5892 appendix A.1 and A.2)

    private enum Joining: UInt32 {
        case left = 1
        case right
        case dual
        case transparent
    }

    private static func isJoinerInPlace(_ label: [Unicode.Scalar], at index: Int) -> Bool {
        guard label[index] == "\u{200C}" || label[index] == "\u{200D}" else { return true }
        if index > 0, label[index - 1].properties.canonicalCombiningClass == .virama { return true }
        guard label[index] == "\u{200C}" else { return false }
        let before = label[..<index].lazy.reversed().map(joining).first { $0 != .transparent } ?? nil
        let after = label[(index + 1)...].lazy.map(joining).first { $0 != .transparent } ?? nil
        return (before == .left || before == .dual) && (after == .right || after == .dual)
    }

    private static func joining(_ scalar: Unicode.Scalar) -> Joining? {
        Joining(rawValue: joiningTypes[scalar])
    }

    private static let joiningTypes = RangeTable(IDNATables.joiningTypes)

    // MARK: Directions (RFC 5893 §2)

    /// The classes that the rules know, in the order of the table.
    private enum Direction: UInt32 {
        case left, right, arabic, number, separator, commonSeparator, terminator, arabicNumber, neutral, boundary, mark
        case other
    }

    /// Checks all labels of a name if one of them has a right-to-left character.
    static func checkDirections(_ labels: [[Unicode.Scalar]]) throws(IDNAError) {
        guard labels.contains(where: { $0.contains { isRightToLeft(direction($0)) } }) else { return }
        for label in labels where !label.isEmpty && !hasLegalDirections(label.map(direction)) {
            throw IDNAError(problem: .mixedDirections, label: String(String.UnicodeScalarView(label)))
        }
    }

    private static func hasLegalDirections(_ classes: [Direction]) -> Bool {
        let last = classes.last { $0 != .mark }
        switch classes.first {
        case .right, .arabic:
            let endsWell = last.map { isRightToLeft($0) || $0 == .number } ?? false
            let mixesNumbers = classes.contains(.number) && classes.contains(.arabicNumber)
            return endsWell && !mixesNumbers && !classes.contains(.left) && !classes.contains(.other)
        case .left:
            let endsWell = last == .left || last == .number
            return endsWell && !classes.contains { isRightToLeft($0) || $0 == .other }
        default: return false
        }
    }

    private static func isRightToLeft(_ direction: Direction) -> Bool {
        direction == .right || direction == .arabic || direction == .arabicNumber
    }

    private static func direction(_ scalar: Unicode.Scalar) -> Direction {
        Direction(rawValue: directions[scalar]) ?? .other
    }

    private static let directions = RangeTable(IDNATables.bidiClasses)
}
