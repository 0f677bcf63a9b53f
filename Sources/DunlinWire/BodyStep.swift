/// What a `BodyReader` found in a piece of input.
public enum BodyStep: Sendable, Hashable {
    /// A range of the input that is body, never empty. Continue at its upper bound.
    case data(Range<Int>)
    /// All of the input was used.
    case needMore
    /// The body is complete; the message ends before this offset in the input.
    ///
    /// Further bytes belong to no request of ours. The caller decides what to do with them; the connection must not be
    /// reused.
    case end(consumed: Int)
}
