internal import FoundationEssentials

extension DynamicValue {
    /// Creates a value from an `Encodable` value. Dates, data, URLs and decimals are kept as such; a number keeps its
    /// exact value.
    public init(encoding value: some Encodable) throws {
        let draft = JSONDraft(HTTP.JSON(), keepsTypes: true)
        let root = JSONValueEncoder(draft, JSONOutline.root, in: nil, at: .none)
        do {
            try root.encode(value, JSONOutline.root, at: .none)
        } catch {
            if draft.outline.problem == nil { throw error }
        }
        let problem: String
        switch draft.outline.problem {
        case nil:
            self = draft.outline.value(at: JSONOutline.root)
            return
        case .tooDeep: problem = "the value is nested more than \(Self.depthLimit) levels deep"
        case .contradiction: problem = "\(type(of: value)) encodes two values in one place"
        case .tooLong: problem = "the text is longer than 4 GiB"
        }
        throw NetworkError(.invalidParameters, problem)
    }

    /// Creates a value of a type that would encode less than it is; nil for other types.
    init?(kept value: some Encodable) {
        switch value {
        case let value as DynamicValue: self = value
        case let value as Date: self = .date(value)
        case let value as Data: self = .data(Bytes(value))
        case let value as Decimal: self = .number(Number(value))
        default: return nil
        }
    }
}

extension DynamicValue.Members {
    /// Creates members from a value that encodes as an object; any other throws a `NetworkError` with code
    /// `invalidParameters`.
    public init(encoding value: some Encodable) throws {
        guard case .object(let members) = try DynamicValue(encoding: value) else {
            throw NetworkError(
                .invalidParameters, "parameters must encode as an object, and \(type(of: value)) does not")
        }
        self = members
    }

    /// The members of an encoded value, for calls: `parameters: .encoding(draft)`.
    public static func encoding(_ value: some Encodable) throws -> Self {
        try Self(encoding: value)
    }
}

/// Marks types that are encoded in a different order in every process.
protocol WithoutOrder {
    /// How many elements belong together, where it is encoded as an array: a key and its value, or one element.
    static var stride: Int { get }
}

extension Dictionary: WithoutOrder { static var stride: Int { 2 } }
extension Set: WithoutOrder { static var stride: Int { 1 } }
