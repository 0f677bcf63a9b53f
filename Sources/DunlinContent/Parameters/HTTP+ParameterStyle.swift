internal import FoundationEssentials

extension HTTP {
    /// How parameters are written as pairs of a query or a form, in which servers differ. The default is AFNetworking's
    /// style.
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

        public var arrays: Arrays
        public var objects: Objects
        public var bools: Bools
        public var nulls: Nulls
        public var dates: DynamicValue.Dates
        /// The order of an object's members.
        public var order: HTTP.KeyOrder
        /// Leaves `[` and `]` in keys as they are, for servers that do not decode keys.
        public var keepsBrackets: Bool

        public init(
            arrays: Arrays = .brackets, objects: Objects = .brackets, bools: Bools = .digits, nulls: Nulls = .bareKey,
            dates: DynamicValue.Dates = .iso8601, order: HTTP.KeyOrder = .sorted, keepsBrackets: Bool = false
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
        public static let given = HTTP.ParameterStyle(order: .given)
    }
}
