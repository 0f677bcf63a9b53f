internal import DunlinTypes
internal import DunlinWire

/// A body that came completely with its head.
struct WholeBody {
    let bytes: Bytes
    /// The end of the body in the bytes that came.
    let end: Int
    /// The trailers; nil if there are none.
    var trailers: Fields?

    private init(_ bytes: Bytes, end: Int, trailers: Fields? = nil) {
        self.bytes = bytes
        self.end = end
        self.trailers = trailers
    }

    /// Creates a body; nil if more must come than the bytes after the head.
    init?(in rest: Bytes, _ framing: BodyFraming, _ limits: WireLimits) throws(WireError) {
        switch framing {
        case .none: self.init(.empty, end: 0)
        case .length(let length) where length <= rest.count: self.init(rest[0..<length], end: length)
        case .chunked: try self.init(chunks: rest, limits)
        case .length, .untilClose, .upgrade: return nil
        }
    }

    private init?(chunks rest: Bytes, _ limits: WireLimits) throws(WireError) {
        var reader = BodyReader(.chunked, limits: limits)
        var pieces: [Range<Int>] = []
        while true {
            switch try reader.next(in: rest.span.bytes, from: pieces.last?.upperBound ?? 0) {
            case .data(let range): pieces.append(range)
            case .needMore: return nil
            case .end(let end):
                let bytes = pieces.count == 1 ? rest[pieces[0]] : Bytes(pieces.flatMap { rest[$0] })
                self.init(bytes, end: end, trailers: reader.trailers)
                return
            }
        }
    }
}
