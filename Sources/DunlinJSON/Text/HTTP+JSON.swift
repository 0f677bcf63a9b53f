public import FoundationEssentials

extension HTTP {
    /// The settings for reading and writing JSON, for `Decodable` and `Encodable` types and for dynamic values.
    ///
    /// ```swift
    /// let json = HTTP.JSON.snakeCase.iso8601
    /// let user = try json.decode(User.self, from: bytes)
    /// let bytes = try json.encode(user)
    /// ```
    ///
    /// Text is read strictly by RFC 8259. Everything else works as with Foundation's `JSONDecoder` and `JSONEncoder`,
    /// whose settings are all here, at a fraction of their cost; the article *JSON* lists the differences. To use a
    /// decoder and an encoder of your own, set `decoder` and `encoder`.
    public struct JSON: Sendable {
        /// How members' names become coding keys, and back.
        public enum KeyCoding: Sendable {
            case asWritten
            /// `first_name` in JSON is `firstName` in Swift.
            case snakeCase
            /// By functions of your own. Each gets the path to the key, including the key itself.
            case custom(
                decode: @Sendable ([any CodingKey]) -> any CodingKey,
                encode: @Sendable ([any CodingKey]) -> any CodingKey)
        }

        /// How dates are written and read.
        public enum DateCoding: Sendable {
            /// As `Date` encodes itself: in seconds since the beginning of 2001.
            case deferred
            case secondsSince1970
            case millisecondsSince1970
            /// `2026-01-31T23:59:59Z`. Fractions of a second and other zones are accepted when reading.
            case iso8601
            /// `2026-01-31T23:59:59.250Z`. Dates without a fraction and in other zones are accepted when reading.
            case iso8601WithFractions
            case custom(
                decode: @Sendable (any Decoder) throws -> Date, encode: @Sendable (Date, any Encoder) throws -> Void)
        }

        /// How `Data` is written and read.
        public enum DataCoding: Sendable {
            case base64
            /// As `Data` encodes itself: as an array of numbers.
            case deferred
            case custom(
                decode: @Sendable (any Decoder) throws -> Data, encode: @Sendable (Data, any Encoder) throws -> Void)
        }

        /// How infinities and NaN are handled, which JSON cannot represent.
        public enum NonFiniteCoding: Sendable, Hashable {
            case refused
            case text(positiveInfinity: String, negativeInfinity: String, nan: String)
        }

        /// How a duplicate key in an object is handled. RFC 8259 leaves this open, and attackers have exploited readers
        /// that differ in it.
        public enum RepeatedKeys: Sendable, Hashable {
            /// The last one counts, as in most JSON readers.
            case last
            case refused
        }

        /// The limits for reading. What exceeds one is refused with an error that names it.
        public struct Limits: Sendable, Hashable {
            /// How deep arrays and objects may be nested. Types use up to 2 KB of stack for each level, so a higher
            /// limit is safe only on threads with enough stack.
            public var depth = 512
            /// The total number of values and keys. Each takes 16 bytes of memory during reading.
            public var values = 16_777_216
            /// The length of a text, a key or a number, in bytes.
            public var textLength = 268_435_456

            public init() {}
        }

        public var keys = KeyCoding.asWritten
        public var dates = DateCoding.deferred
        public var data = DataCoding.base64
        public var nonFinite = NonFiniteCoding.refused
        public var repeatedKeys = RepeatedKeys.last
        public var limits = Limits()
        /// Values for `Decodable` and `Encodable` types that ask their decoder or encoder for them.
        public var userInfo: [CodingUserInfoKey: any Sendable] = [:]
        /// The order of members, escapes and indentation of the output.
        public var format = DynamicValue.JSONFormat()
        /// Makes a decoder of your own, once for each text. It replaces all settings above but `repeatedKeys`.
        public var decoder: (@Sendable () -> JSONDecoder)?
        /// Makes an encoder of your own, likewise.
        public var encoder: (@Sendable () -> JSONEncoder)?

        /// The names whose values no error shows: those of the session that reads.
        package var secretFields = HTTP.SecretFields.usual

        public init() {}
    }
}

// MARK: - In one expression

extension HTTP.JSON {
    public static var standard: HTTP.JSON { HTTP.JSON() }
    public static var snakeCase: HTTP.JSON { standard.snakeCase }
    public static var iso8601: HTTP.JSON { standard.iso8601 }
    public static var strict: HTTP.JSON { standard.strict }

    /// A copy with names in snake case: `first_name` for `firstName`.
    public var snakeCase: HTTP.JSON { with { $0.keys = .snakeCase } }
    /// A copy with dates as `2026-01-31T23:59:59Z`.
    public var iso8601: HTTP.JSON { with { $0.dates = .iso8601 } }
    /// A copy that refuses duplicate keys in an object.
    public var strict: HTTP.JSON { with { $0.repeatedKeys = .refused } }

    private func with(_ change: (inout HTTP.JSON) -> Void) -> HTTP.JSON {
        var copy = self
        change(&copy)
        return copy
    }
}
