/// What a `BodyReader` found in a piece of input.
public enum BodyStep: Sendable, Hashable {
    /// These bytes of the input are body; go on at the range's upper bound. Never empty.
    case data(Range<Int>)
    /// All of the input has been taken.
    case needMore
    /// The body is complete; the message ended before this offset of the input.
    ///
    /// Bytes from there on belong to no request of ours. Whoever reads decides what to do about them; the connection
    /// must not be used again.
    case end(consumed: Int)
}
