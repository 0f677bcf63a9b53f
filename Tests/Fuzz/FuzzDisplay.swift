import Dunlin
import DunlinDisplay

/// What servers call files, and documents in any encoding: a name drives no terminal and fits any width, and a document
/// becomes text of a length that is bounded by its own.
///
/// The input is a label of an encoding and a document, parted by a line end; as a whole it is a name.
enum FuzzDisplay {
    static func violation(of input: [UInt8]) -> String? {
        problem(ofName: String(decoding: input, as: UTF8.self), width: Int(input.first ?? 0)) ?? problem(of: input)
    }

    private static func problem(ofName name: String, width: Int) -> String? {
        let shown = ShownText.of(name)
        let isClean = shown.unicodeScalars.allSatisfy { scalar in
            ![.control, .format, .lineSeparator, .paragraphSeparator].contains(scalar.properties.generalCategory)
        }
        if !isClean { return "a name with controls in it" }
        if ShownText.of(shown) != shown { return "a name that is shown as two things" }
        let abridged = DisplayWidth.abridged(shown, to: width, "…")
        return DisplayWidth.of(abridged) > width ? "a name that does not fit" : nil
    }

    private static func problem(of input: [UInt8]) -> String? {
        let parts = input.split(separator: UInt8(ascii: "\n"), maxSplits: 1, omittingEmptySubsequences: false)
        let bytes = Bytes(parts.last ?? [])
        let label = parts.count == 2 ? String(decoding: parts[0], as: UTF8.self) : nil
        let document = HTMLText(bytes, declared: label)
        if document.text.utf8.count > 6 * bytes.count + 6 { return "a document that grew" }
        let isReplaced = document.text.unicodeScalars.contains("\u{FFFD}")
        return document.isLossy && !isReplaced ? "a loss that does not show" : nil
    }
}
