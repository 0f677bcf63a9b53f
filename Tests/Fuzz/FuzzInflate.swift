import DunlinInflate
import DunlinTypes

/// Content codings: however the wire is cut, the same bytes and the same error, never more than the limits allow; and
/// what was encoded decodes to itself.
///
/// The first byte of an input chooses the codings, the rest is the wire.
enum FuzzInflate {
    static let chains: [[ContentCodec]] = [
        [.gzip], [.deflate], [.gzip, .deflate], [.deflate, .gzip], [.gzip, .gzip, .gzip], [],
    ]

    static func violation(of input: [UInt8]) -> String? {
        let codings = chains[Int(input.first ?? 0) % chains.count]
        let wire = Array(input.dropFirst())
        let cuts = cuts(of: wire)
        for limits in [sized, flat] {
            let outcomes = cuts.map { InflateOutcome(of: $0, codings, limits) }
            for outcome in outcomes {
                if let violation = outcome.violation ?? difference(outcome, outcomes[0]) { return violation }
            }
        }
        return cuts.lazy.compactMap { roundTripViolation(wire, cut: $0, codings.first ?? .gzip) }.first
    }

    /// How the ratio stands is looked at after each piece, and pieces depend on the cuts: if one outcome stopped there,
    /// the other may have gone further.
    private static func difference(_ one: InflateOutcome, _ other: InflateOutcome) -> String? {
        if one.isRatio || other.isRatio {
            let count = min(one.body.count, other.body.count)
            return one.body[..<count] == other.body[..<count] ? nil : "other bytes when cut otherwise"
        }
        return one.body == other.body && one.error == other.error
            ? nil : "\(one.body.count) bytes, \(one.error as Any) or \(other.body.count), \(other.error as Any)"
    }

    private static func roundTripViolation(
        _ body: [UInt8], cut pieces: [[UInt8]], _ coding: ContentCodec
    ) -> String? {
        do throws(InflateError) {
            var encoder = try ContentEncoder(coding, level: body.count % 10)
            var wire: [UInt8] = []
            for piece in pieces { wire += encoder.encode(Bytes(piece)) }
            wire += encoder.finish()
            let outcome = InflateOutcome(of: [wire], [coding], InflateLimits())
            return outcome.body == body && outcome.error == nil ? nil : "encoded and decoded it is something else"
        } catch {
            return "\(error) when encoding"
        }
    }

    private static let sized = {
        var limits = InflateLimits()
        limits.decodedBytes = 50_000
        limits.ratio = nil
        limits.pieceSize = 1000
        return limits
    }()

    private static let flat = {
        var limits = InflateLimits()
        limits.ratio = 20
        limits.ratioFloor = 5000
        limits.pieceSize = 333
        return limits
    }()
}

struct InflateOutcome {
    var body: [UInt8] = []
    var error: InflateError?
    var violation: String?

    var isRatio: Bool {
        if case .ratioExceeded = error { true } else { false }
    }

    init(of pieces: [[UInt8]], _ codings: [ContentCodec], _ limits: InflateLimits) {
        var wireCount = 0
        do throws(InflateError) {
            var decoder = try ContentDecoder(codings, limits: limits)
            for piece in pieces {
                wireCount += piece.count
                decoder.feed(Bytes(piece))
                while let decoded = try decoder.next() {
                    body += decoded
                    let isTooLarge = !codings.isEmpty && decoded.count > limits.pieceSize
                    if decoded.isEmpty || isTooLarge { violation = "a piece of \(decoded.count)" }
                }
            }
            try decoder.finish()
            if decoder.wireCount != wireCount || decoder.decodedCount != body.count { violation = "wrong counts" }
        } catch {
            self.error = error
        }
        if codings.isEmpty { return }
        if let limit = limits.decodedBytes, body.count > limit { violation = "more than the size limit" }
        if let ratio = limits.ratio, body.count > max(limits.ratioFloor, ratio * wireCount) {
            violation = "more than the ratio allows"
        }
    }
}
