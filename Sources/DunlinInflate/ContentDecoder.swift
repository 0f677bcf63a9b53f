public import DunlinTypes

/// Decodes the content codings of one body as its pieces arrive.
///
/// Feed it a piece from the wire, take the output until there is none, and feed it the next piece; after the last,
/// finish:
///
///     decoder.feed(piece)
///     while let decoded = try decoder.next() { … }
///     …
///     try decoder.finish()
///
/// Output is produced only on demand, in pieces of at most `InflateLimits.pieceSize`, so that a few bytes that expand
/// to gigabytes occupy only a piece for each coding. A body without bytes is empty whatever codings it declares, as in
/// responses without content. Without codings, every piece is unchanged and unlimited.
///
/// After an error the decoder repeats that error.
public struct ContentDecoder: ~Copyable, Sendable {
    /// The decoders in order of work: the coding that was applied last comes first.
    private let steps: [any DecodingStep]
    private let limits: InflateLimits
    private var unchanged: Bytes?
    private var failure: InflateError?
    private var wireUsed = 0
    /// The number of bytes fed so far.
    public private(set) var wireCount = 0
    /// The number of bytes returned so far.
    public private(set) var decodedCount = 0

    /// Creates a decoder for `codings` in the order in which they were applied, as `ContentCodecs.chain` returns them.
    public init(_ codings: [ContentCodec], limits: InflateLimits = InflateLimits()) throws(InflateError) {
        guard codings.count <= limits.codings else { throw .tooManyCodings(limit: limits.codings) }
        var steps: [any DecodingStep] = []
        for coding in codings.reversed() { steps.append(try coding.decoder(limits)) }
        self.steps = steps
        self.limits = limits
    }

    /// Feeds the next bytes from the wire. Call it only after `next()` has returned nil or thrown.
    public mutating func feed(_ piece: Bytes) {
        guard failure == nil else { return }
        wireCount += piece.count
        if let first = steps.first { return first.feed(piece) }
        precondition(unchanged == nil, "There is still input to decode.")
        unchanged = piece.isEmpty ? nil : piece
    }

    /// Returns the next decoded bytes, never empty; nil if it must be fed.
    public mutating func next() throws(InflateError) -> Bytes? {
        if let failure { throw failure }
        do throws(InflateError) {
            let piece = steps.isEmpty ? unchanged.take() : try pull()
            decodedCount += piece?.count ?? 0
            return piece
        } catch {
            failure = error
            throw error
        }
    }

    /// Finishes, after the wire's last byte has been fed and `next()` has returned nil. Throws unless every coding is
    /// complete.
    public mutating func finish() throws(InflateError) {
        if let failure { throw failure }
        guard wireCount > 0 else { return }
        do throws(InflateError) {
            for step in steps { try step.finish() }
        } catch {
            failure = error
            throw error
        }
    }

    /// Asks the last step. A step without output is fed by the one before it.
    private mutating func pull() throws(InflateError) -> Bytes? {
        var index = steps.count - 1
        while true {
            let outcome = try steps[index].next()
            if index == 0 { wireUsed = outcome.consumed }
            if let piece = outcome.piece {
                try checkRatio(outcome.produced)
                index += 1
                if index == steps.count { return piece }
                steps[index].feed(piece)
            } else {
                if index == 0 { return nil }
                index -= 1
            }
        }
    }

    /// Compares with the bytes used from the wire, not those fed: a large piece must not allow a large bomb.
    private func checkRatio(_ produced: Int) throws(InflateError) {
        guard let ratio = limits.ratio, produced > limits.ratioFloor else { return }
        let (allowed, overflow) = wireUsed.multipliedReportingOverflow(by: ratio)
        if !overflow, produced > allowed { throw .ratioExceeded(limit: ratio) }
    }
}
