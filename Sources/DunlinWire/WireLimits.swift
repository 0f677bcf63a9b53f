/// How much of a peer's text is taken in before it is refused. Enforced as bytes arrive.
public struct WireLimits: Sendable, Hashable {
    /// One head: status line, fields and the empty line.
    public var headBytes = 128 * 1024
    /// One line of a head or of trailers, its CR LF included.
    public var lineBytes = 16 * 1024
    /// A thousand of the server's own, and those that every response has.
    public var fieldCount = 1024
    /// Interim (1xx) responses before the final one.
    public var interimResponses = 16
    /// A chunk's size and extensions, CR LF included.
    public var chunkLineBytes = 1024
    /// All chunk extensions of one body together.
    public var chunkExtensionBytes = 16 * 1024
    /// The trailer section, its empty line included.
    public var trailerBytes = 16 * 1024
    public var trailerCount = 50

    public init() {}
}
