public import DunlinTypes

/// What a coding's file says of how it is undone: the work of its library, and nothing of pieces, limits or chains.
public protocol DecodingEngine: ~Copyable, SendableMetatype {
    init() throws(InflateError)

    /// How long a whole coded body says its content is; nil if it does not.
    static func contentLength(saidBy coded: Bytes) -> Int?

    /// The body's first byte, for formats that have to be told apart. It is given to `decode` as well.
    mutating func begin(with byte: UInt8)

    /// The coded data could end here, and this byte follows: whether more begins with it. It is given to `decode` as
    /// well.
    mutating func goesOn(with byte: UInt8) -> Bool

    /// Reads from `input` and writes to `output` until one of them is used up or the coded data ends. With no input it
    /// writes what it has held back for want of room.
    mutating func decode(
        _ input: UnsafeRawBufferPointer, into output: UnsafeMutableBufferPointer<UInt8>
    ) -> CodingProgress
}

extension DecodingEngine where Self: ~Copyable {
    public static func contentLength(saidBy coded: Bytes) -> Int? { nil }

    public mutating func begin(with byte: UInt8) {}

    public mutating func goesOn(with byte: UInt8) -> Bool { false }
}

/// The same of how it is done.
public protocol EncodingEngine: ~Copyable, SendableMetatype {
    /// `level` from 0 to 9, as zlib counts; other codings make of it what comes nearest.
    init(level: Int) throws(InflateError)

    /// Reads from `input` and writes to `output` until one of them is used up. An output that is not full means that
    /// there is nothing more to give.
    mutating func encode(
        _ input: UnsafeRawBufferPointer, into output: UnsafeMutableBufferPointer<UInt8>, _ flush: EncodingFlush
    ) -> CodingProgress
}

/// What an encoder gives out.
public enum EncodingFlush: Sendable {
    /// What it likes.
    case none
    /// All that it was given, in a form that can be decoded at once.
    case all
    /// That, and the end.
    case end
}

/// What came of one call.
public struct CodingProgress: Sendable {
    public enum Outcome: Sendable {
        case more
        /// The coded data may end here. A coding without an end says so each time, and goes on with any byte.
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
