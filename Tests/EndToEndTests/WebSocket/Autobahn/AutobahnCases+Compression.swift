import DunlinTesting
import DunlinTypes

/// Groups 12 and 13: compressed messages of five kinds of content, and with each choice of parameters.
extension AutobahnCase {
    static let compression =
        AutobahnContent.allCases.enumerated().flatMap { compressed("12.\($0 + 1)", $1, Compression()) }
        + parameters.enumerated().flatMap { compressed("13.\($0 + 1)", .rows, $1) }

    /// What the server wants; where it wants that messages stand for themselves, the client offers that.
    private static let parameters: [Compression] = [
        Compression(),
        Compression(keepsContext: false, wishes: [.init(noContext: true)]),
        Compression(wishes: [.init(windowBits: 9)]),
        Compression(wishes: [.init(windowBits: 15)]),
        Compression(keepsContext: false, wishes: [.init(noContext: true, windowBits: 9)]),
        Compression(keepsContext: false, wishes: [.init(noContext: true, windowBits: 15)]),
        Compression(wishes: [.init(noContext: true, windowBits: 9), .init(noContext: true), .init()]),
    ]

    /// The lengths of messages, and of the fragments that they are sent in; zero for none.
    private static let lengths: [(message: Int, fragment: Int)] =
        (4...17).filter { ![5, 7, 9, 11].contains($0) }.map { (1 << $0, 0) } + (13...17).map { (1 << $0, 256) }
        + [1024, 4096, 32_768].map { (1 << 17, $0) }

    private static func compressed(
        _ number: String, _ content: AutobahnContent, _ compression: Compression
    ) -> [AutobahnCase] {
        lengths.enumerated().map { index, lengths in
            AutobahnCase(
                "\(number).\(index + 1)", content.kind, fragment: lengths.fragment, compression: compression
            ) {
                content.messages(of: lengths.message, count: max(2, min(8, 16_384 / lengths.message)))
            }
        }
    }
}

/// What compressed messages are made of.
enum AutobahnContent: CaseIterable {
    /// Rows of JSON, a picture, prose, a page of HTML, and what does not become shorter.
    case rows, picture, prose, page, noise

    var kind: WebSocketFrame.Kind { self == .rows || self == .page ? .text : .binary }

    /// Messages that go on where the one before ended, and begin again at the end. One of text is a little longer if
    /// that makes its last character whole.
    func messages(of length: Int, count: Int) -> [Bytes] {
        let all = Self.contents[self] ?? []
        var start = 0
        return (0..<count).map { _ in
            var message: [UInt8] = []
            while message.count < length || (kind == .text && all[start] & 0xC0 == 0x80) {
                var end = min(all.count, start + max(1, length - message.count))
                if end == start { end += 1 }
                message += all[start..<end]
                start = end == all.count ? 0 : end
            }
            return Bytes(message)
        }
    }

    private static let contents = Dictionary(uniqueKeysWithValues: allCases.map { ($0, $0.content) })

    private var content: [UInt8] {
        var dice = SeededGenerator(seed: 12)
        switch self {
        case .rows:
            return Self.lines { "{\"id\": \($0), \"name\": \"item \($0)\", \"tags\": [\"first\", \"second\"]}\n" }
        case .page:
            return Self.lines { "<tr class=\"row\"><td>\($0)</td><td>Größe \(dice.next(below: 500)) × 3</td></tr>\n" }
        case .prose:
            let words = ["Wer", "reitet", "so", "spät", "durch", "Nacht", "und", "Wind", "es", "ist", "der", "Vater"]
            return Self.lines { _ in words[dice.next(below: words.count)] + " " }
        case .picture:
            return (0..<512).flatMap { row in (0..<512).map { UInt8((row + $0) / 4 % 253 + dice.next(below: 3)) } }
        case .noise:
            return (0..<Self.length).map { _ in UInt8(dice.next(below: 256)) }
        }
    }

    private static let length = 192 * 1024

    private static func lines(_ line: (Int) -> String) -> [UInt8] {
        var bytes: [UInt8] = []
        var number = 0
        while bytes.count < length {
            bytes += Array(line(number).utf8)
            number += 1
        }
        return bytes
    }
}
