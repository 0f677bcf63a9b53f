extension DynamicValue {
    /// The format in which dynamic values are written as JSON.
    public struct JSONFormat: Sendable, Hashable, Codable {
        /// The order of an object's members.
        public var order: HTTP.KeyOrder
        /// Whether `/` is written as `\/`, as Foundation and thus AFNetworking do. Both read the same.
        public var escapesSlashes: Bool
        /// Whether each member or element is on a line of its own, indented by two spaces.
        public var isIndented: Bool
        public var dates: DynamicValue.Dates

        public init(
            order: HTTP.KeyOrder = .given, escapesSlashes: Bool = true, isIndented: Bool = false,
            dates: DynamicValue.Dates = .iso8601
        ) {
            self.order = order
            self.escapesSlashes = escapesSlashes
            self.isIndented = isIndented
            self.dates = dates
        }
    }
}

extension HTTP {
    /// The order in which an object's members are written.
    public enum KeyOrder: String, Sendable, Hashable, Codable {
        /// In the given order.
        case given
        /// By key, in UTF-16 code units; members with the same key in the given order.
        case sorted
    }
}
