/// One thing that goes wrong with one response. Counts of bytes begin with the response's head.
public enum Fault: Sendable, Hashable {
    /// All goes well.
    case none
    /// Nobody is there. A loopback server that listens cannot refuse: it reads the request and resets the connection.
    case refused
    /// So many bytes, then a reset.
    case reset(after: Int)
    /// So many bytes, then a close.
    case truncated(after: Int)
    /// So many bytes, then nothing.
    case stalled(after: Int)
    /// In so many pieces, with a pause between them.
    case dripping(pieces: Int, every: Duration)
    /// That much later.
    case delayed(Duration)
    /// 503 in its place.
    case unavailable
    /// It announces so many bytes more than there are, and ends.
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
