public import DunlinTypes

/// A content coding that Dunlin can undo and perhaps do (RFC 9110 §8.4.1): what it is called, and what does the work.
///
/// Each is made in a file of its own in `Codings` and stands in `ContentCodecs.known`. Nothing else knows it by name.
public struct ContentCodec: Sendable {
    /// As it is written in `Content-Encoding`, in lower case.
    public let name: String
    /// What else it is called; understood, and never said.
    public let aliases: [String]
    /// Whether requests ask for it that say nothing of their own.
    public let isAskedFor: Bool
    let decoder: @Sendable (InflateLimits) throws(InflateError) -> any DecodingStep
    /// Nil if it can only be undone.
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

    /// Whether it can be done, not only undone.
    public var isEncodable: Bool { encoder != nil }

    /// How long a whole coded body says its content is; nil if it does not. It may be a lie.
    public func contentLength(saidBy coded: Bytes) -> Int? { length(coded) }

    /// `name` in lower case.
    func isCalled(_ name: String) -> Bool { name == self.name || aliases.contains(name) }
}

extension ContentCodec: Hashable, CustomStringConvertible {
    public static func == (one: Self, other: Self) -> Bool { one.name == other.name }

    public func hash(into hasher: inout Hasher) { hasher.combine(name) }

    public var description: String { name }
}
