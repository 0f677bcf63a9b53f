/// The entities that a document declares, and what is left of the size they may grow to.
///
/// What an entity stands for is text. One that holds markup, or lies outside the document, is remembered as such and
/// refused where it is used.
struct EntityTable {
    enum Entity {
        case text(String)
        case external
    }

    private static let predefined = ["lt": "<", "gt": ">", "amp": "&", "quot": "\"", "apos": "'"]
    /// References within entities within entities.
    private static let deepest = 16

    private var declared: [String: Entity] = [:]
    private var left: Int

    init(limit: Int) {
        left = limit
    }

    /// The first declaration counts (XML 1.0 §4.2).
    mutating func declare(_ name: String, _ entity: Entity) {
        if declared[name] == nil { declared[name] = entity }
    }

    mutating func text(of name: String) throws(EntityProblem) -> String {
        try text(of: name, depth: 0)
    }

    struct EntityProblem: Error {
        let problem: XML.Error.Problem
    }

    private mutating func text(of name: String, depth: Int) throws(EntityProblem) -> String {
        // One that stands for nothing costs something too, but for those that everybody uses.
        if let character = Self.predefined[name] { return character }
        left -= 1
        guard left >= 0, depth < Self.deepest else { throw EntityProblem(problem: .expandsTooFar) }
        switch declared[name] {
        case nil: throw EntityProblem(problem: .unknownEntity)
        case .external?: throw EntityProblem(problem: .externalEntity)
        case .text(let text)?: return try expanded(text, depth: depth)
        }
    }

    private mutating func expanded(_ text: String, depth: Int) throws(EntityProblem) -> String {
        guard !text.utf8.contains(UInt8(ascii: "<")) else { throw EntityProblem(problem: .markupInEntity) }
        var result = ""
        var rest = text.utf8[...]
        while let ampersand = rest.firstIndex(of: UInt8(ascii: "&")) {
            try append(rest[..<ampersand], to: &result)
            rest = rest[rest.index(after: ampersand)...]
            guard let end = rest.firstIndex(of: UInt8(ascii: ";")) else {
                throw EntityProblem(problem: .invalidReference)
            }
            let name = String(decoding: rest[..<end], as: UTF8.self)
            rest = rest[rest.index(after: end)...]
            // What comes back has been counted.
            result += try self.text(of: name, depth: depth + 1)
        }
        try append(rest, to: &result)
        return result
    }

    private mutating func append(
        _ piece: Substring.UTF8View, to result: inout String
    ) throws(EntityProblem) {
        left -= piece.count
        guard left >= 0 else { throw EntityProblem(problem: .expandsTooFar) }
        result += String(decoding: piece, as: UTF8.self)
    }
}
