internal import FoundationEssentials

extension DynamicValue {
    /// Creates a value from an untyped one, for code that has dictionaries of `Any`: booleans, numbers, text, dates,
    /// data, URLs, arrays, sets and dictionaries of these, optionals, and Foundation's types for them, such as the
    /// output of `JSONSerialization`, whose numbers stay numbers and whose null is null. Anything else throws a
    /// `NetworkError` with code `invalidParameters`.
    public init(any value: Any) throws {
        self = try Self.converted(value, 0)
    }

    private static func converted(_ value: Any, _ depth: Int) throws -> DynamicValue {
        guard depth < depthLimit else {
            throw NetworkError(.invalidParameters, "the value is nested more than \(depthLimit) levels deep")
        }
        // Before any other cast, since those look into optionals.
        if let optional = value as? any OptionalValue {
            return try optional.inside.map { try converted($0, depth + 1) } ?? .null
        }
        if type(of: value) is AnyClass, let leaf = foundationLeaf(value) { return leaf }
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
        default: throw NetworkError(.invalidParameters, "\(type(of: value)) cannot be a parameter")
        }
    }

    /// The value of a Foundation object that casts would misread or not recognise.
    ///
    /// An NSNumber of 0 or 1 can be cast to Bool, whatever it was made from, and any NSNumber to every type that holds
    /// its value. So its class tells a boolean from a number: by name, since this module may not import the class.
    private static func foundationLeaf(_ value: Any) -> DynamicValue? {
        switch String(describing: type(of: value)) {
        case "NSNull": return .null
        case "__NSCFBoolean": return (value as? Bool).map { .bool($0) }
        default: return foundationNumber(value).map { .number($0) }
        }
    }

    /// The number in the first type that holds its value exactly. Only numbers can be cast to these types.
    private static func foundationNumber(_ value: Any) -> Number? {
        if let decimal = value as? Decimal { return Number(decimal) }
        if let zero = value as? Double, zero == 0, zero.sign == .minus { return Number(zero) }
        if let integer = value as? Int64 { return Number(integer) }
        if let integer = value as? UInt64 { return Number(integer) }
        if let short = value as? Float { return Number(short) }
        return (value as? Double).map { Number($0) }
    }
}

private protocol OptionalValue {
    var inside: Any? { get }
}

extension Optional: OptionalValue {
    fileprivate var inside: Any? { map { $0 } }
}

extension DynamicValue.Members {
    /// Creates members from a dictionary of `Any`, sorted by key.
    public init(any dictionary: [String: Any]) throws {
        self.init(try dictionary.mapValues { try DynamicValue(any: $0) })
    }
}
