/// Something that goes wrong with a response. Bytes are counted from the beginning of the response's head.
public enum Fault: Sendable, Hashable {
    /// Nothing goes wrong.
    case none
    /// The connection is refused. A loopback server that listens cannot refuse: it reads the request and resets the
    /// connection.
    case refused
    /// This many bytes, then a reset.
    case reset(after: Int)
    /// This many bytes, then a close.
    case truncated(after: Int)
    /// This many bytes, then nothing.
    case stalled(after: Int)
    /// The response in this many pieces, with a pause between them.
    case dripping(pieces: Int, every: Duration)
    /// The response, this much later.
    case delayed(Duration)
    /// Status 503 instead.
    case unavailable
    /// A length that is this many bytes too long, followed by the end.
    case wrongLength(missing: Int)
}

extension Fault: CustomStringConvertible {
    public var description: String {
        switch self {
        case .none: "no fault"
        case .refused: "refused"
        case .reset(let count): "reset after \(count) bytes"
        case .truncated(let count): "truncated after \(count) bytes"
        case .stalled(let count): "stalled after \(count) bytes"
        case .dripping(let pieces, let pause): "dripping \(pieces) pieces every \(pause)"
        case .delayed(let duration): "delayed \(duration)"
        case .unavailable: "503"
        case .wrongLength(let missing): "\(missing) bytes missing"
        }
    }
}
