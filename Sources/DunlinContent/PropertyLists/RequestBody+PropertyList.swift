internal import FoundationEssentials

extension RequestBody {
    /// The formats of property lists.
    public enum PropertyListFormat: String, Sendable, Hashable, Codable {
        case xml
        case binary
    }
}

extension RequestBody {
    /// A body of a value as a property list (`application/x-plist`). The value is encoded now, so one that cannot be
    /// encoded throws here.
    @_disfavoredOverload
    public static func propertyList(_ value: some Encodable, _ format: RequestBody.PropertyListFormat = .xml) throws
        -> RequestBody
    {
        let encoder = PropertyListEncoder()
        encoder.outputFormat = format == .xml ? .xml : .binary
        return .bytes(Bytes(try encoder.encode(value)), contentType: "application/x-plist")
    }

    /// A body of a property list with any structure, including dates and data. Throws a `NetworkError` with code
    /// `invalidParameters` for what a property list cannot represent: null, sets, and duplicate keys in a dictionary.
    public static func propertyList(_ value: DynamicValue, _ format: RequestBody.PropertyListFormat = .xml) throws
        -> RequestBody
    {
        try value.checkPropertyList(1)
        let encoder = PropertyListEncoder()
        encoder.outputFormat = format == .xml ? .xml : .binary
        return .bytes(Bytes(try encoder.encode(value)), contentType: "application/x-plist")
    }
}

extension DynamicValue {
    /// Keys that Swift considers equal text count as duplicates, because a dictionary merges them.
    fileprivate func checkPropertyList(_ depth: Int) throws {
        if depth > DynamicValue.depthLimit {
            throw Self.refusal("it is nested more than \(DynamicValue.depthLimit) levels deep")
        }
        switch self {
        case .null: throw Self.refusal("a property list cannot hold null")
        case .set: throw Self.refusal("a property list cannot hold a set, which has no order")
        case .bool, .number, .string, .data: break
        case .date(let date): _ = try DynamicValue.Dates.iso8601.value(of: date)
        case .array(let elements):
            for element in elements { try element.checkPropertyList(depth + 1) }
        case .object(let members):
            if Set(members.map(\.key)).count < members.count { throw Self.refusal("a dictionary has a key twice") }
            for member in members { try member.value.checkPropertyList(depth + 1) }
        }
    }

    private static func refusal(_ problem: String) -> NetworkError {
        NetworkError(
            .invalidParameters, "The `parameters` argument is not a valid property list.",
            underlying: ParameterProblem(problem))
    }
}
