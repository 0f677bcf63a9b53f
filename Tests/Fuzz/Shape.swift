import Dunlin
import FoundationEssentials

/// A type that is made up as the fuzzer goes: what a `Decodable` type would ask for.
indirect enum Shape {
    case bool, int, int8, uint64, int128, double, float, string, date, data, decimal, uuid, url
    case optional(Shape)
    case array(Shape)
    case dictionary(Shape)
    case integerDictionary(Shape)
    /// Members by name; asked for in this order, some of them twice, some only if they are present.
    case object([Member])
    /// An object whose members are in a nested container of this key.
    case nested(String, [Member])
    /// An array of two, read by an unkeyed container.
    case pair(Shape, Shape)
    /// An object read by the decoder for `super`.
    case inherited([Member])
    /// Asks first for a Bool, and for a text if there is none.
    case either

    struct Member {
        var name: String
        var shape: Shape
        var isOptional: Bool
    }
}

extension Shape {
    /// Made of what the fuzzer says.
    init(_ choices: inout Choices, depth: Int = 0) {
        let scalars: [Shape] = [
            .bool, .int, .int8, .uint64, .int128, .double, .float, .string, .date, .data, .decimal, .uuid, .url,
            .either,
        ]
        let choice = choices.next(depth > 3 ? scalars.count : scalars.count + 10)
        if choice < scalars.count {
            self = scalars[choice]
            return
        }
        switch choice - scalars.count {
        case 0: self = .optional(Shape(&choices, depth: depth + 1))
        case 1, 2: self = .array(Shape(&choices, depth: depth + 1))
        case 3: self = .dictionary(Shape(&choices, depth: depth + 1))
        case 4: self = .integerDictionary(Shape(&choices, depth: depth + 1))
        case 5: self = .nested(choices.name(), Self.members(&choices, depth))
        case 6: self = .pair(Shape(&choices, depth: depth + 1), Shape(&choices, depth: depth + 1))
        case 7: self = .inherited(Self.members(&choices, depth))
        default: self = .object(Self.members(&choices, depth))
        }
    }

    private static func members(_ choices: inout Choices, _ depth: Int) -> [Member] {
        (0..<choices.next(5)).map { _ in
            Member(name: choices.name(), shape: Shape(&choices, depth: depth + 1), isOptional: choices.next(3) == 0)
        }
    }
}

extension Shape {
    var hasDictionary: Bool {
        has {
            switch $0 {
            case .dictionary, .integerDictionary: true
            default: false
            }
        }
    }

    /// Integers beyond 64 bits, whose other spellings Foundation does not know.
    var hasLongInteger: Bool { has { if case .int128 = $0 { true } else { false } } }

    private func has(_ isOne: (Shape) -> Bool) -> Bool {
        if isOne(self) { return true }
        switch self {
        case .optional(let inner), .array(let inner), .dictionary(let inner), .integerDictionary(let inner):
            return inner.has(isOne)
        case .pair(let first, let second): return first.has(isOne) || second.has(isOne)
        case .object(let members), .nested(_, let members), .inherited(let members):
            return members.contains { $0.shape.has(isOne) }
        default: return false
        }
    }
}

/// What the fuzzer's bytes decide; zeros when they are used up.
struct Choices {
    private var bytes: ArraySlice<UInt8>

    init(_ bytes: [UInt8]) {
        self.bytes = bytes[...]
    }

    var isOver: Bool { bytes.isEmpty }
    var rest: [UInt8] { Array(bytes) }

    mutating func next(_ count: Int) -> Int { Int(bytes.popFirst() ?? 0) % count }

    mutating func name() -> String {
        let names = [
            "a", "b", "first_name", "firstName", "_x_", "URL", "super", "é", "a/b", "\"", "id", "long name of a member",
            "1", "-7", "", "a_1b",
        ]
        return names[next(names.count)]
    }
}
