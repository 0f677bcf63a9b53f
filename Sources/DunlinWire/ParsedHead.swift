public import DunlinTypes

/// A head as parsed, with what its fields say about framing.
public struct ParsedHead: Sendable {
    public var head: ResponseHead
    let summary: FramingFields

    /// An interim response: the final one is still to come. 101 is final.
    public var isInterim: Bool { head.status.isInterim }
}
