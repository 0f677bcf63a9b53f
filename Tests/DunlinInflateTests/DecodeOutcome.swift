import DunlinInflate
import DunlinTypes

/// What came of feeding pieces to a decoder.
struct DecodeOutcome: Equatable {
    var body: [UInt8] = []
    var error: InflateError?

    init(_ body: String, _ error: InflateError? = nil) {
        self.body = Array(body.utf8)
        self.error = error
    }

    init(body: [UInt8], _ error: InflateError? = nil) {
        self.body = body
        self.error = error
    }

    init(of pieces: [[UInt8]], _ codings: [ContentCodec], limits: InflateLimits = InflateLimits()) {
        do throws(InflateError) {
            var decoder = try ContentDecoder(codings, limits: limits)
            for piece in pieces {
                decoder.feed(Bytes(piece))
                while let decoded = try decoder.next() { body += decoded }
            }
            try decoder.finish()
        } catch {
            self.error = error
        }
    }
}
