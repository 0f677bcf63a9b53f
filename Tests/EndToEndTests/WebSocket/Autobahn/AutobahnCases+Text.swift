import DunlinTesting
import DunlinTypes

/// Group 6: text, and what is none.
extension AutobahnCase {
    static let text = valid + faults + refusedAtOnce + sequences

    private static let word = bytes("cebae1bdb9cf83cebcceb5")
    private static let mixed = Bytes("Hello-µ@ßöäüàá-UTF-8!!")
    static let surrogateWithin = word + bytes("eda080") + Array("edited".utf8)

    private static let valid: [AutobahnCase] = [
        AutobahnCase("6.1.1", [.text(.empty)], back: [.message(.text, .empty)]),
        AutobahnCase("6.1.2", around(.empty), back: [.message(.text, .empty)]),
        AutobahnCase("6.1.3", around("middle frame payload"), back: [.message(.text, "middle frame payload")]),
        AutobahnCase("6.2.1", .text) { [mixed] },
        AutobahnCase(
            "6.2.2", [.text("Hello-µ@ßöä", isFinal: false), .more("üàá-UTF-8!!")], back: [.message(.text, mixed)]),
        AutobahnCase("6.2.3", .text, fragment: 1) { [mixed] },
        AutobahnCase("6.2.4", .text, fragment: 1) { [Bytes(word)] },
    ]

    private static func around(_ payload: Bytes) -> [Frame] {
        [.text(.empty, isFinal: false), .more(payload, isFinal: false), .more(.empty)]
    }

    private static let faults: [AutobahnCase] = [
        AutobahnCase("6.3.1", [.text(Bytes(surrogateWithin))], .refused([1007])),
        AutobahnCase(
            "6.3.2",
            surrogateWithin.enumerated().map { index, byte in
                Frame(index == 0 ? 1 : 0, Bytes([byte]), isFinal: index == surrogateWithin.count - 1)
            }, .refused([1007])),
    ]

    /// The last part of the message is never sent: the client is to refuse the second.
    private static let refusedAtOnce: [AutobahnCase] = {
        let tooLarge = bytes("f4908080")
        let rest = Array("edited".utf8)
        let length = word.count + tooLarge.count + rest.count
        let cuts: [([UInt8], [UInt8])] = [(word, tooLarge), (word + tooLarge.prefix(1), [tooLarge[1]])]
        let frames = cuts.map { first, second in
            [Frame.text(Bytes(first), isFinal: false).bytes, Frame.more(Bytes(second), isFinal: false).bytes]
        }
        // The two parts are within one frame.
        let pieces = cuts.map { first, second in [[0x81, UInt8(length)] + first, second] }
        return (frames + pieces).enumerated().map { index, parts in
            AutobahnCase(
                "6.4.\(index + 1)", .refused([1007]), echoesPieces: true,
                turns: [
                    Turn(steps: [.send(Bytes(parts[0]))], events: [.message(.text, Bytes(word))]),
                    Turn(steps: [.send(Bytes(parts[1]))], events: []),
                ])
        }
    }()

    /// 6.5 and later: sequences that are text or not, by Markus Kuhn's tests of decoders.
    private static let sequences = lists.enumerated().flatMap { part, list in
        list.enumerated().map { index, sequence in
            let number = "6.\(part + 5).\(index + 1)"
            let (isText, payload) = (sequence.0, Bytes(sequence.1))
            return isText
                ? AutobahnCase(number, [.text(payload)], back: [.message(.text, payload)])
                : AutobahnCase(number, [.text(payload)], .refused([1007]))
        }
    }

    private static let lists: [[(Bool, [UInt8])]] = [
        ["24", "c2a2", "e282ac", "f0a4ada2"].map { (true, Array("hello".utf8) + bytes($0) + Array("world".utf8)) }
            + [(true, word)],
        (1...word.count).map { ([2, 5, 7, 9, 11].contains($0), Array(word.prefix($0))) },
        list(true, "00 c280 e0a080 f0908080"),
        list(false, "f888808080 fc8480808080"),
        list(true, "7f dfbf efbfbf f48fbfbf"),
        list(false, "f7bfbfbf fbbfbfbfbf fdbfbfbfbfbf"),
        list(true, "ed9fbf ee8080 efbfbd f48fbfbf") + list(false, "f4908080"),
        list(false, "80 bf 80bf 80bf80 80bf80bf 80bf80bf80 80bf80bf80bf") + [(false, Array(0x80..<0xBF))],
        [0xC0..<0xDF, 0xE0..<0xEF, 0xF0..<0xF7, 0xF8..<0xFB, 0xFC..<0xFD].map { (false, $0.flatMap { [$0, 0x20] }) },
        list(false, cut),
        list(false, cut.filter { $0 != " " }),
        list(false, "fe ff fefeffff"),
        list(false, "c0af e080af f08080af f8808080af fc80808080af"),
        list(false, "c1bf e09fbf f08fbfbf f887bfbfbf fc83bfbfbfbf"),
        list(false, "c080 e08080 f0808080 f880808080 fc8080808080"),
        list(false, "eda080 edadbf edae80 edafbf edb080 edbe80 edbfbf"),
        list(
            false,
            "eda080edb080 eda080edbfbf edadbfedb080 edadbfedbfbf edae80edb080 edae80edbfbf edafbfedb080 edafbfedbfbf"),
        list(true, "efbfbe efbfbf") + lastOfPlanes,
        list(true, "efbfb9 efbfba efbfbb efbfbc efbfbd efbfbe efbfbf"),
    ]

    /// Sequences whose last byte is missing.
    private static let cut =
        "c0 e080 f08080 f8808080 fc80808080 df efbf f7bfbf fbbfbfbf fdbfbfbfbf"

    /// The last two code points of each plane but the first: no characters, and valid all the same.
    private static let lastOfPlanes = (1...16).flatMap { plane in
        [0xFFFE, 0xFFFF].map { last -> (Bool, [UInt8]) in
            let scalar = Unicode.Scalar(UInt32(plane << 16 | last)) ?? "?"
            return (true, Array(String(scalar).utf8))
        }
    }

    private static func list(_ isText: Bool, _ sequences: String) -> [(Bool, [UInt8])] {
        sequences.split(separator: " ").map { (isText, bytes(String($0))) }
    }

    private static func bytes(_ hex: String) -> [UInt8] {
        let digits = hex.compactMap(\.hexDigitValue)
        return stride(from: 0, to: digits.count, by: 2).map { UInt8(digits[$0] << 4 | digits[$0 + 1]) }
    }
}
