import Dunlin
import FoundationEssentials

/// A value of a type that is made up: decoded and encoded by the shape that the coder's `userInfo` holds.
indirect enum Shaped: Equatable {
    case bool(Bool)
    case integer(Int128)
    case bits(UInt64)
    case string(String)
    /// The bits of the seconds since 2001.
    case date(UInt64)
    case data(Data)
    case decimal(Decimal)
    case uuid(UUID)
    case url(URL)
    case optional(Shaped?)
    case array([Shaped])
    case dictionary([String: Shaped])
    case integerDictionary([Int: Shaped])
    case members([Named])

    struct Named: Equatable {
        var name: String
        var value: Shaped?
    }
}

extension CodingUserInfoKey {
    static let shapes: CodingUserInfoKey = {
        guard let key = CodingUserInfoKey(rawValue: "shapes") else { fatalError("every text is a key") }
        return key
    }()
}

/// The shape of the value that is decoded next; a stack, since types that are generic hand nothing on.
final class Shapes: @unchecked Sendable {
    var stack: [Shape]
    init(_ shape: Shape) { stack = [shape] }
}

struct Name: CodingKey {
    var stringValue: String
    var intValue: Int?
    init(_ text: String) { stringValue = text }
    init(stringValue: String) { self.stringValue = stringValue }
    init?(intValue: Int) { return nil }
}

/// What Foundation and Dunlin are asked for.
struct AnyShaped: Decodable {
    var value: Shaped

    init(from decoder: any Decoder) throws {
        guard let shapes = decoder.userInfo[.shapes] as? Shapes, let shape = shapes.stack.last else { fatalError() }
        value = try Self.value(shape, decoder, shapes)
    }

    private static func value(_ shape: Shape, _ decoder: any Decoder, _ shapes: Shapes) throws -> Shaped {
        func single() throws -> any SingleValueDecodingContainer { try decoder.singleValueContainer() }
        func within<Value>(_ shape: Shape, _ work: () throws -> Value) rethrows -> Value {
            shapes.stack.append(shape)
            defer { shapes.stack.removeLast() }
            return try work()
        }
        switch shape {
        case .bool: return .bool(try single().decode(Bool.self))
        case .int: return .integer(Int128(try single().decode(Int.self)))
        case .int8: return .integer(Int128(try single().decode(Int8.self)))
        case .uint64: return .integer(Int128(try single().decode(UInt64.self)))
        case .int128: return .integer(try single().decode(Int128.self))
        case .double: return .bits(try single().decode(Double.self).bitPattern)
        case .float: return .bits(UInt64(try single().decode(Float.self).bitPattern))
        case .string: return .string(try single().decode(String.self))
        case .date: return .date(try single().decode(Date.self).timeIntervalSinceReferenceDate.bitPattern)
        case .data: return .data(try single().decode(Data.self))
        case .decimal: return .decimal(try single().decode(Decimal.self))
        case .uuid: return .uuid(try single().decode(UUID.self))
        case .url: return .url(try single().decode(URL.self))
        case .either:
            let container = try single()
            if let flag = try? container.decode(Bool.self) { return .bool(flag) }
            return .string(try container.decode(String.self))
        case .optional(let inner):
            return .optional(try within(inner) { try single().decode(AnyShaped?.self)?.value })
        case .array(let inner):
            return .array(try within(inner) { try single().decode([AnyShaped].self).map(\.value) })
        case .dictionary(let inner):
            return .dictionary(try within(inner) { try single().decode([String: AnyShaped].self).mapValues(\.value) })
        case .integerDictionary(let inner):
            return .integerDictionary(
                try within(inner) { try single().decode([Int: AnyShaped].self).mapValues(\.value) })
        case .object(let members):
            return .members(try Self.members(members, try decoder.container(keyedBy: Name.self), shapes))
        case .nested(let name, let members):
            let outer = try decoder.container(keyedBy: Name.self)
            let inner = try outer.nestedContainer(keyedBy: Name.self, forKey: Name(name))
            return .members(try Self.members(members, inner, shapes))
        case .inherited(let members):
            let outer = try decoder.container(keyedBy: Name.self)
            let inner = try outer.superDecoder().container(keyedBy: Name.self)
            return .members(try Self.members(members, inner, shapes))
        case .pair(let first, let second):
            var container = try decoder.unkeyedContainer()
            let one = try within(first) { try container.decode(AnyShaped.self).value }
            if try container.decodeNil() { return .array([one]) }
            return .array([one, try within(second) { try container.decode(AnyShaped.self).value }])
        }
    }

    private static func members(
        _ members: [Shape.Member], _ container: KeyedDecodingContainer<Name>, _ shapes: Shapes
    ) throws -> [Shaped.Named] {
        try members.map { member in
            shapes.stack.append(member.shape)
            defer { shapes.stack.removeLast() }
            let key = Name(member.name)
            if member.isOptional {
                let value = try container.decodeIfPresent(AnyShaped.self, forKey: key)?.value
                return Shaped.Named(name: member.name, value: value)
            }
            return Shaped.Named(name: member.name, value: try container.decode(AnyShaped.self, forKey: key).value)
        }
    }
}

/// The same value encoded as a type of its shape would do.
struct Written: Encodable {
    var value: Shaped

    func encode(to encoder: any Encoder) throws {
        switch value {
        case .members(let members):
            var container = encoder.container(keyedBy: Name.self)
            for member in members {
                try container.encodeIfPresent(member.value.map(Written.init), forKey: Name(member.name))
            }
        default:
            var container = encoder.singleValueContainer()
            switch value {
            case .bool(let flag): try container.encode(flag)
            case .integer(let integer): try container.encode(integer)
            case .bits(let bits): try container.encode(bits)
            case .string(let text): try container.encode(text)
            case .date(let bits):
                try container.encode(Date(timeIntervalSinceReferenceDate: Double(bitPattern: bits)))
            case .data(let data): try container.encode(data)
            case .decimal(let decimal): try container.encode(decimal)
            case .uuid(let uuid): try container.encode(uuid)
            case .url(let url): try container.encode(url)
            case .optional(let inner): try container.encode(inner.map(Written.init))
            case .array(let elements): try container.encode(elements.map(Written.init))
            case .dictionary(let members): try container.encode(members.mapValues(Written.init))
            case .integerDictionary(let members): try container.encode(members.mapValues(Written.init))
            case .members: break
            }
        }
    }
}
