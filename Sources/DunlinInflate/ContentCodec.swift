public import DunlinTypes

/// A content coding that Dunlin can decode and perhaps encode (RFC 9110 §8.4.1): its names, and its decoder and
/// encoder.
///
/// Each has a file in `Codings` and an entry in `ContentCodecs.known`. Nothing else refers to it by name.
public struct ContentCodec: Sendable {
    /// The name in `Content-Encoding`, in lower case.
    public let name: String
    /// Other names, which are understood but never sent.
    public let aliases: [String]
    /// Whether requests ask for it by default.
    public let isAskedFor: Bool
    let decoder: @Sendable (InflateLimits) throws(InflateError) -> any DecodingStep
    /// Creates an encoder; nil if the coding can only be decoded.
    let encoder: (@Sendable (_ level: Int) throws(InflateError) -> any EncodingStep)?
    private let length: @Sendable (Bytes) -> Int?

    public init<Decoder: DecodingEngine & ~Copyable>(
        _ name: String, aliases: [String] = [], isAskedFor: Bool = true, decoder: Decoder.Type
    ) {
        self.init(name, aliases, isAskedFor, decoder, encoder: nil)
    }

    public init<Decoder: DecodingEngine & ~Copyable, Encoder: EncodingEngine & ~Copyable>(
        _ name: String, aliases: [String] = [], isAskedFor: Bool = true, decoder: Decoder.Type, encoder: Encoder.Type
    ) {
        self.init(name, aliases, isAskedFor, decoder) { level throws(InflateError) in
            try LockedEncoding<Encoder>(level: level)
        }
    }

    private init<Decoder: DecodingEngine & ~Copyable>(
        _ name: String, _ aliases: [String], _ isAskedFor: Bool, _: Decoder.Type,
        encoder: (@Sendable (Int) throws(InflateError) -> any EncodingStep)?
    ) {
        self.name = name.lowercased()
        self.aliases = aliases.map { $0.lowercased() }
        self.isAskedFor = isAskedFor
        self.encoder = encoder
        decoder = { limits throws(InflateError) in try LockedDecoding<Decoder>(limits) }
        length = { Decoder.contentLength(saidBy: $0) }
    }

    /// Whether the coding can be encoded, not only decoded.
    public var isEncodable: Bool { encoder != nil }

    /// Returns the content's length that a whole coded body declares; nil if it does not. It may be false.
    public func contentLength(saidBy coded: Bytes) -> Int? { length(coded) }

    /// Whether the coding has this name, given in lower case.
    func isCalled(_ name: String) -> Bool { name == self.name || aliases.contains(name) }
}

extension ContentCodec: Hashable, CustomStringConvertible {
    public static func == (one: Self, other: Self) -> Bool { one.name == other.name }

    public func hash(into hasher: inout Hasher) { hasher.combine(name) }

    public var description: String { name }
}
