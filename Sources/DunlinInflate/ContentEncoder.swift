public import DunlinTypes

/// Compresses one body, as its pieces come.
///
/// The output depends on the input, the coding and the level only: a gzip header has neither time nor name. How the
/// input is cut makes no difference to it.
public struct ContentEncoder: ~Copyable, Sendable {
    private let step: any EncodingStep

    /// `level` from 1, the fastest, to 9, the smallest; 0 stores. What lies outside is moved to the nearest. Throws
    /// `decodingOnly` for a coding that can only be undone.
    public init(_ codec: ContentCodec, level: Int = 6) throws(InflateError) {
        guard let encoder = codec.encoder else { throw .decodingOnly(coding: codec.name) }
        step = try encoder(min(max(level, 0), 9))
    }

    /// Takes in a piece. What is ready to be sent, often nothing: an encoder collects before it decides.
    ///
    /// The output is at most a little larger than what has been taken in and not yet given out, so a body that is large
    /// and in memory is better passed by slices.
    public mutating func encode(_ piece: Bytes) -> Bytes { step.encode(piece, .none) }

    /// All that has been taken in and not yet been given out, in a form that the other side can decode at once. It
    /// costs a few bytes each time, and the output then depends on when it was done.
    public mutating func flush() -> Bytes { step.encode(.empty, .all) }

    /// All that is left, and the end. Even an empty body has a few bytes.
    public consuming func finish() -> Bytes { step.encode(.empty, .end) }
}
