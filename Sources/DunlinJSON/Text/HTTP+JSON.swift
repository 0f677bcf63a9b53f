public import FoundationEssentials

extension HTTP {
    /// How JSON is read and written: for `Decodable` and `Encodable` types and for dynamic values.
    ///
    /// ```swift
    /// let json = HTTP.JSON.snakeCase.iso8601
    /// let user = try json.decode(User.self, from: bytes)
    /// let bytes = try json.encode(user)
    /// ```
    ///
    /// Text is read strictly, by the letter of RFC 8259. Everything else means what it means to Foundation's
    /// `JSONDecoder` and `JSONEncoder`, whose settings are all here, at a fraction of their cost; the article
    /// *JSON* lists where the two differ. A decoder and an encoder of your own take over by `decoder` and `encoder`.
    public struct JSON: Sendable {
        /// How names of members become coding keys, and back.
        public enum KeyCoding: Sendable {
            case asWritten
            /// `first_name` in JSON is `firstName` in Swift.
            case snakeCase
            /// By functions of your own. Each gets the path to the key, itself included.
            case custom(
                decode: @Sendable ([any CodingKey]) -> any CodingKey,
                encode: @Sendable ([any CodingKey]) -> any CodingKey)
        }

        /// How dates are written, and read.
        public enum DateCoding: Sendable {
            /// As `Date` itself does: seconds since the beginning of 2001.
            case deferred
            case secondsSince1970
            case millisecondsSince1970
            /// `2026-01-31T23:59:59Z`. Fractions of a second and other zones are read too.
            case iso8601
            /// `2026-01-31T23:59:59.250Z`. Dates without a fraction and of other zones are read too.
            case iso8601WithFractions
            case custom(
                decode: @Sendable (any Decoder) throws -> Date, encode: @Sendable (Date, any Encoder) throws -> Void)
        }

        /// How `Data` is written, and read.
        public enum DataCoding: Sendable {
            case base64
            /// As they themselves do: an array of numbers.
            case deferred
            case custom(
                decode: @Sendable (any Decoder) throws -> Data, encode: @Sendable (Data, any Encoder) throws -> Void)
        }

        /// What becomes of the infinities and of what is not a number, for which JSON has no words.
        public enum NonFiniteCoding: Sendable, Hashable {
            case refused
            case text(positiveInfinity: String, negativeInfinity: String, nan: String)
        }

        /// What a key means that comes twice in one object. RFC 8259 leaves it open, and readers that differ in it have
        /// been played off against each other.
        public enum RepeatedKeys: Sendable, Hashable {
            /// The last counts, as for most readers of JSON.
            case last
            case refused
        }

        /// How much is read. What exceeds a limit is refused by name.
        public struct Limits: Sendable, Hashable {
            /// How deep arrays and objects are nested. Each level takes stack, of which types use up to 2 KB a level: a
            /// higher limit is safe on threads with as much.
            public var depth = 512
            /// How many values and keys there are in all: 16 bytes of memory each while they are read.
            public var values = 16_777_216
            /// How many bytes a text, a key or a number has.
            public var textLength = 268_435_456

            public init() {}
        }

        public var keys = KeyCoding.asWritten
        public var dates = DateCoding.deferred
        public var data = DataCoding.base64
        public var nonFinite = NonFiniteCoding.refused
        public var repeatedKeys = RepeatedKeys.last
        public var limits = Limits()
        /// For `Decodable` and `Encodable` types that ask their decoder or encoder for it.
        public var userInfo: [CodingUserInfoKey: any Sendable] = [:]
        /// The order of members, escapes and indentation of what is written.
        public var format = DynamicValue.JSONFormat()
        /// Makes a decoder of your own, which is used in place of all the above but `repeatedKeys`; called once a text.
        public var decoder: (@Sendable () -> JSONDecoder)?
        /// Makes an encoder of your own, likewise.
        public var encoder: (@Sendable () -> JSONEncoder)?

        public init() {}
    }
}

// MARK: - In one expression

extension HTTP.JSON {
    public static var standard: HTTP.JSON { HTTP.JSON() }
    public static var snakeCase: HTTP.JSON { standard.snakeCase }
    public static var iso8601: HTTP.JSON { standard.iso8601 }
    public static var strict: HTTP.JSON { standard.strict }

    /// This, with names in snake case: `first_name` for `firstName`.
    public var snakeCase: HTTP.JSON { with { $0.keys = .snakeCase } }
    /// This, with dates as `2026-01-31T23:59:59Z`.
    public var iso8601: HTTP.JSON { with { $0.dates = .iso8601 } }
    /// This, refusing a key that comes twice in one object.
    public var strict: HTTP.JSON { with { $0.repeatedKeys = .refused } }

    private func with(_ change: (inout HTTP.JSON) -> Void) -> HTTP.JSON {
        var copy = self
        change(&copy)
        return copy
    }
}
