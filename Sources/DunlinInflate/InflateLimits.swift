/// How much a compressed body may become before it is refused. Enforced as bytes are decoded.
///
/// In a chain of codings each step is held to the limits, not only the last: a body may swell in the middle and
/// shrink again.
public struct InflateLimits: Sendable, Hashable {
    /// Decoded bytes for each byte from the wire, looked at piece by piece; nil for any number.
    ///
    /// Deflate alone gets to 1,032 and real data seldom above 100. So by default a single coding is refused for endless
    /// repetition only, and a chain, where the ratios multiply, as soon as it goes beyond what one coding could do.
    public var ratio: Int? = 1000
    /// The ratio is not looked at until this much has been decoded: small bodies may repeat themselves as they like.
    public var ratioFloor = 1024 * 1024
    /// Decoded bytes in all; nil for any number.
    public var decodedBytes: Int? = 256 * 1024 * 1024
    /// The largest piece handed out, and so the most that is decoded ahead of the reader at each step. At least 1.
    public var pieceSize = 64 * 1024
    /// Codings applied one after the other.
    public var codings = 4

    public init() {}
}
