public import DunlinTypes

/// A parsed head, and what its fields say about framing.
public struct ParsedHead: Sendable {
    public var head: ResponseHead
    let summary: FramingFields

    /// Whether this is an interim response, which a final one follows. 101 is final.
    public var isInterim: Bool { head.status.isInterim }
}
