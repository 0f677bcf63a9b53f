internal import FoundationEssentials

extension DynamicValue {
    /// What an untyped value is, for code that comes with dictionaries of `Any`: booleans, numbers, text, dates, data,
    /// URLs, arrays, sets and dictionaries of those, and optionals. Anything else throws `NetworkError` with code
    /// `invalidParameters`.
    public init(any value: Any) throws {
        self = try Self.converted(value, 0)
    }

    private static func converted(_ value: Any, _ depth: Int) throws -> DynamicValue {
        guard depth < DynamicEncoder.depth else {
            throw NetworkError(.invalidParameters, "the value is nested more than \(DynamicEncoder.depth) levels deep")
        }
        return switch value {
        case let value as DynamicValue: value
        case let value as Bool: .bool(value)
        case let value as any BinaryInteger: .number(Number(value))
        case let value as Double: .number(Number(value))
        case let value as Float: .number(Number(value))
        case let value as Decimal: .number(Number(value))
        case let value as String: .string(value)
        case let value as Substring: .string(String(value))
        case let value as Bytes: .data(value)
        case let value as Data: .data(Bytes(value))
        case let value as Date: .date(value)
        case let value as URL: .string(value.absoluteString)
        case let value as [Any]: .array(try value.map { try converted($0, depth + 1) })
        case let value as Set<AnyHashable>: .set(Set(try value.map { try converted($0.base, depth + 1) }))
        case let value as [String: Any]: .object(Members(try value.mapValues { try converted($0, depth + 1) }))
        default: try unusual(value, depth)
        }
    }

    private static func unusual(_ value: Any, _ depth: Int) throws -> DynamicValue {
        let mirror = Mirror(reflecting: value)
        if mirror.displayStyle == .optional {
            return try mirror.children.first.map { try converted($0.value, depth + 1) } ?? .null
        }
        throw NetworkError(.invalidParameters, "\(type(of: value)) cannot be a parameter")
    }
}

extension DynamicValue.Members {
    /// For code that comes with dictionaries of `Any`; sorted by key.
    public init(any dictionary: [String: Any]) throws {
        self.init(try dictionary.mapValues { try DynamicValue(any: $0) })
    }
}
