public import DunlinTypes

/// The decoder in a coding's file: the work of its library, without pieces, limits or chains.
public protocol DecodingEngine: ~Copyable, SendableMetatype {
    init() throws(InflateError)

    /// Returns the content's length that a whole coded body declares; nil if it does not.
    static func contentLength(saidBy coded: Bytes) -> Int?

    /// Takes the body's first byte, to tell formats apart. It is also passed to `decode`.
    mutating func begin(with byte: UInt8)

    /// Called when the coded data could end and another byte follows. Returns whether that byte begins more data. It is
    /// also passed to `decode`.
    mutating func goesOn(with byte: UInt8) -> Bool

    /// Reads from `input` and writes to `output` until one of them is used up or the coded data ends. Without input, it
    /// writes what it held back for lack of room.
    mutating func decode(
        _ input: UnsafeRawBufferPointer, into output: UnsafeMutableBufferPointer<UInt8>
    ) -> CodingProgress
}

extension DecodingEngine where Self: ~Copyable {
    public static func contentLength(saidBy coded: Bytes) -> Int? { nil }

    public mutating func begin(with byte: UInt8) {}

    public mutating func goesOn(with byte: UInt8) -> Bool { false }
}

/// The encoder in a coding's file.
public protocol EncodingEngine: ~Copyable, SendableMetatype {
    /// Creates an encoder. `level` is 0 to 9 as in zlib; other codings use the nearest equivalent.
    init(level: Int) throws(InflateError)

    /// Reads from `input` and writes to `output` until one of them is used up. If it does not fill the output, nothing
    /// more is ready.
    mutating func encode(
        _ input: UnsafeRawBufferPointer, into output: UnsafeMutableBufferPointer<UInt8>, _ flush: EncodingFlush
    ) -> CodingProgress
}

/// What an encoder must put out.
public enum EncodingFlush: Sendable {
    /// What it chooses.
    case none
    /// Everything it was given, in a form that can be decoded at once.
    case all
    /// Everything, and the end.
    case end
}

/// The result of one call.
public struct CodingProgress: Sendable {
    public enum Outcome: Sendable {
        case more
        /// The coded data may end here. A coding without an end reports this each time, and continues with any byte.
        case ended
        case failed(InflateError)
    }

    public var consumed: Int
    public var produced: Int
    public var outcome: Outcome

    public init(consumed: Int, produced: Int, _ outcome: Outcome = .more) {
        self.consumed = consumed
        self.produced = produced
        self.outcome = outcome
    }
}
