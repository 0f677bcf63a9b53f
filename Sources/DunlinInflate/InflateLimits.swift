/// The limits for decoding a compressed body. Enforced as bytes are decoded.
///
/// In a chain of codings the limits apply to each step, since a body may grow in the middle and shrink again.
public struct InflateLimits: Sendable, Hashable {
    /// The number of decoded bytes for each byte from the wire, checked piece by piece; nil for no limit.
    ///
    /// Deflate reaches at most 1,032, and real data seldom more than 100. So by default a single coding is refused only
    /// for endless repetition, and a chain, whose ratios multiply, when it exceeds what one coding could reach.
    public var ratio: Int? = 1000
    /// The number of decoded bytes from which the ratio is checked: small bodies may be repetitive.
    public var ratioFloor = 1024 * 1024
    /// The total number of decoded bytes; nil for no limit.
    public var decodedBytes: Int? = 256 * 1024 * 1024
    /// The size of the largest piece returned, and so the most that is decoded ahead of the reader at each step. At
    /// least 1.
    public var pieceSize = 64 * 1024
    /// The number of codings applied one after another.
    public var codings = 4

    public init() {}
}
