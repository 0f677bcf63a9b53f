extension DynamicValue {
    /// How dynamic values are written as JSON.
    public struct JSONFormat: Sendable, Hashable, Codable {
        /// The order of an object's members.
        public enum Order: String, Sendable, Hashable, Codable {
            /// As they are.
            case given
            /// By key, in UTF-16 code units.
            case sorted
        }

        public var order: Order
        /// `\/` for `/`, as Foundation writes it, and so AFNetworking. Both read the same.
        public var escapesSlashes: Bool
        /// One member or element a line, indented by two spaces.
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

extension DynamicValue {
    /// The value as JSON (RFC 8259), in UTF-8. Numbers are written with the digits they have, data in Base64.
    ///
    /// Throws `NetworkError` with code `invalidParameters` for what JSON cannot say: `nan` and the infinities, sets,
    /// a key said twice in one object, and what is nested more than 512 levels deep.
    public func json(_ format: DynamicValue.JSONFormat = DynamicValue.JSONFormat()) throws -> Bytes {
        var writer = JSONWriter(format)
        try writer.write(self)
        return Bytes(writer.bytes)
    }
}
