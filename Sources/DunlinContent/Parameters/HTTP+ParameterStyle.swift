internal import FoundationEssentials

extension HTTP {
    /// The style in which parameters are written as pairs of a query or form. Servers differ; the default is
    /// AFNetworking's style.
    public struct ParameterStyle: Sendable, Hashable, Codable {
        /// How the keys of an array's elements are written.
        public enum Arrays: String, Sendable, Hashable, Codable {
            /// `tag[]=a&tag[]=b`
            case brackets
            /// `tag=a&tag=b`
            case repeatedKey
            /// `tag[0]=a&tag[1]=b`
            case indexed
        }

        /// How the keys of an object's members are written.
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
            /// The pair is left out.
            case dropped
        }

        public var arrays: Arrays
        public var objects: Objects
        public var bools: Bools
        public var nulls: Nulls
        public var dates: DynamicValue.Dates
        /// The order of an object's members.
        public var order: HTTP.KeyOrder
        /// Whether `[` and `]` in keys are kept, for servers that do not decode keys.
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

        /// The default style with members in the given order.
        public static let given = HTTP.ParameterStyle(order: .given)
    }
}
