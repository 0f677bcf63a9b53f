public import DunlinTypes

/// Compresses one body as its pieces come.
///
/// The output depends only on the input, the coding and the level: a gzip header has neither time nor name, and how the
/// input is cut makes no difference.
public struct ContentEncoder: ~Copyable, Sendable {
    private let step: any EncodingStep

    /// Creates an encoder. `level` is 1, the fastest, to 9, the smallest; 0 stores. Values outside are clamped. Throws
    /// `decodingOnly` for a coding that can only be decoded.
    public init(_ codec: ContentCodec, level: Int = 6) throws(InflateError) {
        guard let encoder = codec.encoder else { throw .decodingOnly(coding: codec.name) }
        step = try encoder(min(max(level, 0), 9))
    }

    /// Encodes a piece. Returns what is ready, often nothing, since an encoder collects input first.
    ///
    /// The output is at most a little larger than the pending input, so pass a large body in memory in slices.
    public mutating func encode(_ piece: Bytes) -> Bytes { step.encode(piece, .none) }

    /// Returns everything pending, in a form that the other side can decode at once. This costs a few bytes each time,
    /// and the output then depends on when it is called.
    public mutating func flush() -> Bytes { step.encode(.empty, .all) }

    /// Returns everything pending and the end. Even an empty body has a few bytes.
    public consuming func finish() -> Bytes { step.encode(.empty, .end) }
}
