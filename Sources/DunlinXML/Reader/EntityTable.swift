/// The entities that a document declares, and the rest of the size to which they may expand.
///
/// An entity stands for text. One that contains markup, or is external, is recorded as such and refused where it is
/// used.
struct EntityTable {
    enum Entity {
        case text(String)
        case external
    }

    private static let predefined = ["lt": "<", "gt": ">", "amp": "&", "quot": "\"", "apos": "'"]
    /// The greatest depth of references within entities.
    private static let deepest = 16

    private var declared: [String: Entity] = [:]
    private var left: Int

    init(limit: Int) {
        left = limit
    }

    /// Declares an entity. The first declaration counts (XML 1.0 §4.2).
    mutating func declare(_ name: String, _ entity: Entity) {
        if declared[name] == nil { declared[name] = entity }
    }

    mutating func text(of name: String) throws(EntityProblem) -> String {
        try text(of: name, depth: 0)
    }

    struct EntityProblem: Error {
        let problem: XML.Error.Problem
    }

    /// The text of an entity. XML's own entities cost nothing: in the document they are longer than their text, and
    /// within an entity they were counted with its text.
    private mutating func text(of name: String, depth: Int) throws(EntityProblem) -> String {
        if let character = Self.predefined[name] { return character }
        guard depth < Self.deepest else { throw EntityProblem(problem: .expandsTooFar) }
        switch declared[name] {
        case nil: throw EntityProblem(problem: .unknownEntity)
        case .external?: throw EntityProblem(problem: .externalEntity)
        case .text(let text)?: return try expanded(text, depth: depth)
        }
    }

    /// Expands a text. It costs the whole text, references included, before it is processed, and one more for
    /// processing, since even an empty expansion takes work. So both the work and the result are within the limit.
    private mutating func expanded(_ text: String, depth: Int) throws(EntityProblem) -> String {
        let cost = text.utf8.count + 1
        guard cost <= left else { throw EntityProblem(problem: .expandsTooFar) }
        left -= cost
        guard !text.utf8.contains(UInt8(ascii: "<")) else { throw EntityProblem(problem: .markupInEntity) }
        var result = ""
        var rest = text.utf8[...]
        while let ampersand = rest.firstIndex(of: UInt8(ascii: "&")) {
            result += String(decoding: rest[..<ampersand], as: UTF8.self)
            rest = rest[rest.index(after: ampersand)...]
            guard let end = rest.firstIndex(of: UInt8(ascii: ";")) else {
                throw EntityProblem(problem: .invalidReference)
            }
            let name = String(decoding: rest[..<end], as: UTF8.self)
            rest = rest[rest.index(after: end)...]
            result += try self.text(of: name, depth: depth + 1)
        }
        return result + String(decoding: rest, as: UTF8.self)
    }
}
