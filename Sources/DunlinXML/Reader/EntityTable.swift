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

    /// XML's own cost nothing here: in the document they are shorter than what stands for them, and within an entity
    /// they have been paid for with its text.
    private mutating func text(of name: String, depth: Int) throws(EntityProblem) -> String {
        if let character = Self.predefined[name] { return character }
        guard depth < Self.deepest else { throw EntityProblem(problem: .expandsTooFar) }
        switch declared[name] {
        case nil: throw EntityProblem(problem: .unknownEntity)
        case .external?: throw EntityProblem(problem: .externalEntity)
        case .text(let text)?: return try expanded(text, depth: depth)
        }
    }

    /// Costs the whole text, references included, before it is looked at, and one for the look: what stands for nothing
    /// is read too. So the work and what comes of it are both within the limit.
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
