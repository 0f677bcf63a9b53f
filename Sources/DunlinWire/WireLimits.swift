/// How much text is accepted from a peer. Enforced as bytes arrive.
public struct WireLimits: Sendable, Hashable {
    /// The length of a head: status line, fields and the empty line.
    public var headBytes = 128 * 1024
    /// The length of a line of a head or of trailers, including CR LF.
    public var lineBytes = 16 * 1024
    /// The number of fields: a thousand of the server's own, and those that every response has.
    public var fieldCount = 1024
    /// The number of interim (1xx) responses before the final one.
    public var interimResponses = 16
    /// The length of a chunk's size and extensions, including CR LF.
    public var chunkLineBytes = 1024
    /// The total length of all chunk extensions of a body.
    public var chunkExtensionBytes = 16 * 1024
    /// The length of the trailer section, including its empty line.
    public var trailerBytes = 16 * 1024
    public var trailerCount = 50

    public init() {}
}
