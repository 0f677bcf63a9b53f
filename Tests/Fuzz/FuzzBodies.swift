import DunlinTypes
import DunlinWire

/// Bodies: however the input is cut, the same bytes, the same trailers, the same error and the same end.
enum FuzzBodies {
    static func violation(of input: [UInt8]) -> String? {
        let cuts = cuts(of: input)
        let half = input.count / 2
        for framing in [BodyFraming.chunked, .length(half), .length(input.count + 1), .untilClose, .none] {
            // Only chunks have limits.
            for limits in framing == .chunked ? [WireLimits(), tight] : [WireLimits()] {
                let outcomes = cuts.map { BodyOutcome(of: $0, framing, limits) }
                if let violation = outcomes.lazy.compactMap(\.violation).first { return violation }
                for outcome in outcomes where outcome != outcomes[0] {
                    return "\(framing): whole gives \(outcomes[0]), in pieces \(outcome)"
                }
            }
        }
        return nil
    }

    private static let tight = {
        var limits = WireLimits()
        limits.chunkLineBytes = 12
        limits.chunkExtensionBytes = 16
        limits.trailerBytes = 32
        limits.trailerCount = 2
        limits.lineBytes = 16
        return limits
    }()
}

struct BodyOutcome: Equatable {
    var body: [UInt8] = []
    var consumed: Int?
    var error: WireError?
    var trailers = Fields()
    var violation: String?

    static func == (left: BodyOutcome, right: BodyOutcome) -> Bool {
        left.body == right.body && left.consumed == right.consumed && left.error == right.error
            && left.trailers == right.trailers
    }

    init(of pieces: [[UInt8]], _ framing: BodyFraming, _ limits: WireLimits) {
        var reader = BodyReader(framing, limits: limits)
        var before = 0
        do throws(WireError) {
            for piece in pieces where consumed == nil {
                if let end = try read(piece, &reader) { consumed = before + end }
                before += piece.count
            }
            try reader.endOfStream()
            if !reader.isFinished { violation = "not finished after the end" }
            consumed = consumed ?? before
        } catch {
            self.error = error
            if consumed != nil { violation = "an error after the end" }
        }
        trailers = reader.trailers
        violation = violation ?? self.violation(framing, limits, inputCount: before)
    }

    /// Where the message ended in this piece.
    private mutating func read(_ piece: [UInt8], _ reader: inout BodyReader) throws(WireError) -> Int? {
        var offset = 0
        while true {
            switch try reader.next(in: piece.span.bytes, from: offset) {
            case .data(let range):
                guard range.lowerBound >= offset, !range.isEmpty, range.upperBound <= piece.count else {
                    violation = "data at \(range) from \(offset) of \(piece.count)"
                    return nil
                }
                body += piece[range]
                offset = range.upperBound
            case .needMore: return nil
            case .end(let end):
                if end < offset || end > piece.count { violation = "end at \(end) from \(offset) of \(piece.count)" }
                return end
            }
        }
    }

    private func violation(_ framing: BodyFraming, _ limits: WireLimits, inputCount: Int) -> String? {
        if trailers.count > limits.trailerCount { return "more trailers than the limit" }
        if trailers.bytes.count > limits.trailerBytes { return "more trailer bytes than the limit" }
        for entry in trailers.entries where max(entry.name.upperBound, entry.value.upperBound) > trailers.bytes.count {
            return "a trailer lies beyond the bytes"
        }
        switch framing {
        case .none, .upgrade: return body.isEmpty && error == nil ? nil : "a body where there is none"
        case .length(let count):
            return body.count == min(count, inputCount) && (error == nil) == (inputCount >= count)
                ? nil : "not the declared length"
        case .untilClose: return body.count == inputCount && error == nil ? nil : "not all of the stream"
        case .chunked: return error == nil ? reencodingViolation : nil
        }
    }

    /// What was read, written anew in chunks, reads the same.
    private var reencodingViolation: String? {
        if let consumed, body.count + 5 > consumed { return "more body than the message had room for" }
        var encoded: [UInt8] = []
        ChunkEncoder.append(Bytes(body), into: &encoded)
        encoded += Array("0\r\n\r\n".utf8)
        var copy = BodyOutcome()
        var reader = BodyReader(.chunked)
        do throws(WireError) {
            copy.consumed = try copy.read(encoded, &reader)
        } catch {
            return "\(error) in a body encoded anew"
        }
        return copy.body == body && copy.consumed == encoded.count ? nil : "another body when encoded anew"
    }

    private init() {}
}
