import DunlinCommandLine

/// Where a member belongs: the steps of `a[b][0][]`.
///
/// A name begins with a key, or with `[]` or `[0]` where the whole body is an array. What follows stands in brackets:
/// a key, the index of an array, or nothing for its end. A backslash makes a bracket, or another backslash, part of a
/// key, and a number that it stands before is a key.
struct ItemPath: Equatable {
    enum Step: Equatable {
        case key(String)
        case index(Int)
        case end
    }

    /// How deep values may be nested by brackets. No server reads more.
    static let depthLimit = 64
    /// The largest index: all elements before it are sent, as null.
    static let indexLimit = 9999

    private(set) var steps: [Step] = []

    init(_ name: String) throws(UsageError) {
        var rest = Substring(name).unicodeScalars
        if rest.first != "[" { steps.append(.key(Self.word(&rest, until: "[").text)) }
        while let scalar = rest.popFirst() {
            guard scalar == "[" else {
                throw UsageError(description: "\"\(name)\" has text behind a bracket; write a[b][c]")
            }
            let word = Self.word(&rest, until: "]")
            guard rest.popFirst() == "]" else {
                throw UsageError(description: "\"\(name)\" has a bracket that is not closed; \\[ is one in a name")
            }
            steps.append(try Self.step(word, name))
            if steps.count > Self.depthLimit {
                throw UsageError(description: "a name has at most \(Self.depthLimit) steps in brackets")
            }
        }
        if case .key = steps.first, name.utf8.first == UInt8(ascii: "[") {
            throw UsageError(description: "\"\(name)\" begins with a bracket; [] or [0] makes the body an array")
        }
    }

    /// Text up to a bracket, and whether a backslash says that it is no index.
    private static func word(
        _ rest: inout Substring.UnicodeScalarView, until end: Unicode.Scalar
    ) -> (text: String, isKey: Bool) {
        var (text, isKey) = (String.UnicodeScalarView(), false)
        while let scalar = rest.first, scalar != end {
            rest.removeFirst()
            if scalar == "\\", let next = rest.first {
                if ["[", "]", "\\"].contains(next) {
                    rest.removeFirst()
                    text.append(next)
                    continue
                }
                if text.isEmpty, ("0"..."9").contains(next) {
                    isKey = true
                    continue
                }
            }
            text.append(scalar)
        }
        return (String(text), isKey)
    }

    private static func step(_ word: (text: String, isKey: Bool), _ name: String) throws(UsageError) -> Step {
        if word.text.isEmpty { return .end }
        let digits = word.text.utf8.first == UInt8(ascii: "-") ? word.text.dropFirst() : word.text[...]
        let isNumber = !digits.isEmpty && digits.utf8.allSatisfy { (0x30...0x39).contains($0) }
        guard isNumber, !word.isKey else { return .key(word.text) }
        guard let index = Int(word.text), (0...indexLimit).contains(index) else {
            throw UsageError(description: "\"\(name)\" has an index that is not a number from 0 to \(indexLimit)")
        }
        return .index(index)
    }
}
