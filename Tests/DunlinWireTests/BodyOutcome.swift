import DunlinTypes
import DunlinWire

/// What came of feeding pieces to a body reader.
struct BodyOutcome: Equatable {
    var body = ""
    /// Where the message ended in all of the input; nil if it did not.
    var consumed: Int?
    var error: WireError?
    var trailers = Fields()

    init(body: String, consumed: Int? = nil, error: WireError? = nil, trailers: Fields = Fields()) {
        self.body = body
        self.consumed = consumed
        self.error = error
        self.trailers = trailers
    }

    init(of pieces: [[UInt8]], framing: BodyFraming, limits: WireLimits = WireLimits()) {
        var reader = BodyReader(framing, limits: limits)
        var bytes: [UInt8] = []
        var before = 0
        do throws(WireError) {
            // An empty piece first: a body may be over before anything of it came.
            for piece in [[]] + pieces where consumed == nil {
                var offset = 0
                reading: while true {
                    switch try reader.next(in: piece.span.bytes, from: offset) {
                    case .data(let range):
                        bytes += piece[range]
                        offset = range.upperBound
                    case .needMore: break reading
                    case .end(let end):
                        consumed = before + end
                        break reading
                    }
                }
                before += piece.count
            }
            try reader.endOfStream()
            if consumed == nil, reader.isFinished { consumed = before }
        } catch {
            self.error = error
        }
        body = String(decoding: bytes, as: UTF8.self)
        trailers = reader.trailers
    }
}
