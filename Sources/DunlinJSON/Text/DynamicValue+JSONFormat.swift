extension DynamicValue {
    /// How dynamic values are written as JSON.
    public struct JSONFormat: Sendable, Hashable, Codable {
        /// The order of an object's members.
        public enum Order: String, Sendable, Hashable, Codable {
            /// In the order given.
            case given
            /// By key, in UTF-16 code units.
            case sorted
        }

        public var order: Order
        /// Whether `/` is written as `\/`, as by Foundation, and so AFNetworking. Both read the same.
        public var escapesSlashes: Bool
        /// Whether each member or element has a line of its own, indented by two spaces.
        public var isIndented: Bool
        public var dates: DynamicValue.Dates

        public init(
            order: Order = .given, escapesSlashes: Bool = true, isIndented: Bool = false,
            dates: DynamicValue.Dates = .iso8601
        ) {
            self.order = order
            self.escapesSlashes = escapesSlashes
            self.isIndented = isIndented
            self.dates = dates
        }
    }
}
