internal import FoundationEssentials

/// The types whose values are read and written directly, without a decoder or encoder of their own: JSON's own types,
/// those whose form the settings choose, and arrays of the commonest.
enum JSONLeaf {
    case string, integer, double, bool, date, data, uuid, decimal, url, dynamic
    case strings, integers, doubles

    /// Creates the leaf for a type; nil for any other type.
    init?(_ type: Any.Type) {
        if type == String.self {
            self = .string
        } else if type == Int.self {
            self = .integer
        } else if type == Double.self {
            self = .double
        } else if type == Bool.self {
            self = .bool
        } else if type == Date.self {
            self = .date
        } else if type == Data.self {
            self = .data
        } else if type == UUID.self {
            self = .uuid
        } else if type == Decimal.self {
            self = .decimal
        } else if type == URL.self {
            self = .url
        } else if type == DynamicValue.self {
            self = .dynamic
        } else if type == Self.stringArray {
            self = .strings
        } else if type == Self.integerArray {
            self = .integers
        } else if type == Self.doubleArray {
            self = .doubles
        } else {
            return nil
        }
    }

    /// Whether settings leave values of this type to the user's functions or to the type itself.
    func isCustom(_ json: HTTP.JSON) -> Bool {
        switch self {
        case .date: if case .custom = json.dates { true } else { false }
        case .data: if case .base64 = json.data { false } else { true }
        default: false
        }
    }

    // Stored, because the runtime looks up a generic type whenever it is named.
    private static let stringArray: Any.Type = [String].self
    private static let integerArray: Any.Type = [Int].self
    private static let doubleArray: Any.Type = [Double].self
}
