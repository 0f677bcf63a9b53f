/// A coding key that a decoder or encoder makes itself.
struct JSONKey: CodingKey {
    let stringValue: String
    let intValue: Int?

    init(index: Int) {
        stringValue = "Index \(index)"
        intValue = index
    }

    init(stringValue: String) {
        self.stringValue = stringValue
        intValue = nil
    }

    init(intValue: Int) {
        stringValue = String(intValue)
        self.intValue = intValue
    }

    static let base = JSONKey(stringValue: "super")
}

/// A name as a dictionary key, compared byte by byte.
struct JSONName: Hashable {
    let name: String

    init(_ name: String) {
        self.name = name
    }

    static func == (left: JSONName, right: JSONName) -> Bool { left.name.hasSameBytes(as: right.name) }

    func hash(into hasher: inout Hasher) { hasher.combine(bytesOf: name) }
}

/// Converts names to coding keys and back.
struct JSONKeyConverter {
    private let coding: HTTP.JSON.KeyCoding

    init(_ coding: HTTP.JSON.KeyCoding) {
        self.coding = coding
    }

    /// Whether the conversion depends on the path to a key.
    var needsPath: Bool { if case .custom = coding { true } else { false } }

    func decoded(_ name: String, at path: [any CodingKey]) -> String {
        switch coding {
        case .asWritten: name
        case .snakeCase: SnakeCase.camelCase(name)
        case .custom(let decode, _): decode(path + [JSONKey(stringValue: name)]).stringValue
        }
    }

    /// The name for a key. The path is evaluated only if it matters.
    func encoded(_ key: any CodingKey, at path: @autoclosure () -> [any CodingKey]) -> String {
        switch coding {
        case .asWritten: key.stringValue
        case .snakeCase: SnakeCase.snakeCase(key.stringValue)
        case .custom(_, let encode): encode(path() + [key]).stringValue
        }
    }
}
