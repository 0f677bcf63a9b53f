internal import FoundationEssentials

/// How parameters become pairs of a query or a form, where servers differ. The default is AFNetworking's way.
public struct ParameterStyle: Sendable, Hashable, Codable {
    /// The keys of an array's elements.
    public enum Arrays: String, Sendable, Hashable, Codable {
        /// `tag[]=a&tag[]=b`
        case brackets
        /// `tag=a&tag=b`
        case repeatedKey
        /// `tag[0]=a&tag[1]=b`
        case indexed
    }

    /// The keys of an object's members.
    public enum Objects: String, Sendable, Hashable, Codable {
        /// `user[name]=Ada`
        case brackets
        /// `user.name=Ada`
        case dots
    }

    public enum Bools: String, Sendable, Hashable, Codable {
        /// `1` and `0`
        case digits
        /// `true` and `false`
        case words
    }

    public enum Nulls: String, Sendable, Hashable, Codable {
        /// `key`
        case bareKey
        /// `key=`
        case emptyValue
        /// Nothing.
        case dropped
    }

    public enum Dates: String, Sendable, Hashable, Codable {
        /// `2026-01-31T23:59:59Z`, with milliseconds if there are any.
        case iso8601
        /// Seconds since 1970, with a fraction if there is one.
        case secondsSince1970
        /// Whole milliseconds since 1970.
        case millisecondsSince1970
    }

    /// The order of an object's members.
    public enum Order: String, Sendable, Hashable, Codable {
        /// By key, in UTF-16 code units; members of one key as they are.
        case sorted
        /// As they are.
        case given
    }

    public var arrays: Arrays
    public var objects: Objects
    public var bools: Bools
    public var nulls: Nulls
    public var dates: Dates
    public var order: Order
    /// Leaves `[` and `]` in keys as they are, for servers that do not decode keys.
    public var keepsBrackets: Bool

    public init(
        arrays: Arrays = .brackets, objects: Objects = .brackets, bools: Bools = .digits, nulls: Nulls = .bareKey,
        dates: Dates = .iso8601, order: Order = .sorted, keepsBrackets: Bool = false
    ) {
        self.arrays = arrays
        self.objects = objects
        self.bools = bools
        self.nulls = nulls
        self.dates = dates
        self.order = order
        self.keepsBrackets = keepsBrackets
    }

    /// Members in the order they are written in.
    public static let given = ParameterStyle(order: .given)
}

extension ParameterStyle.Dates {
    enum Written {
        case string(String)
        case number(DynamicValue.Number)

        var text: String {
            switch self {
            case .string(let text): text
            case .number(let number): number.literal
            }
        }
    }

    /// Throws for a date that no calendar has: beyond the year 9999, or none at all.
    func value(of date: Date) throws -> Written {
        let seconds = date.timeIntervalSince1970
        guard seconds >= -62_135_596_800, seconds < 253_402_300_800 else {
            throw NetworkError(.invalidParameters, "a date must lie in the years 1 to 9999")
        }
        let milliseconds = Int64((seconds * 1000).rounded(.down))
        return switch self {
        case .iso8601: .string(CalendarText.iso8601(milliseconds: milliseconds))
        case .secondsSince1970: .number(DynamicValue.Number(seconds))
        case .millisecondsSince1970: .number(DynamicValue.Number(milliseconds))
        }
    }
}
