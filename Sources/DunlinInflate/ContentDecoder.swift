public import DunlinTypes

/// Undoes the content codings of one body, as its pieces arrive.
///
/// Feed it a piece from the wire, take what comes out until there is nothing, feed it the next; after the last, finish:
///
///     decoder.feed(piece)
///     while let decoded = try decoder.next() { … }
///     …
///     try decoder.finish()
///
/// Output is made only when asked for, one piece of `InflateLimits.pieceSize` at most, so that a few bytes that stand
/// for gigabytes occupy no more than a piece for each coding. A body of no bytes at all is an empty body, whatever
/// codings it claims: that is how responses without content look. No codings leave every piece as it is, unlimited.
///
/// After an error the decoder repeats it and is of no further use.
public struct ContentDecoder: ~Copyable, Sendable {
    /// In the order in which they work: the coding that was applied last comes first.
    private let steps: [any DecodingStep]
    private let limits: InflateLimits
    private var unchanged: Bytes?
    private var failure: InflateError?
    private var wireUsed = 0
    /// Bytes fed so far.
    public private(set) var wireCount = 0
    /// Bytes handed out so far.
    public private(set) var decodedCount = 0

    /// `codings` in the order in which they were applied, as `ContentCodecs.chain` gives them.
    public init(_ codings: [ContentCodec], limits: InflateLimits = InflateLimits()) throws(InflateError) {
        guard codings.count <= limits.codings else { throw .tooManyCodings(limit: limits.codings) }
        var steps: [any DecodingStep] = []
        for coding in codings.reversed() { steps.append(try coding.decoder(limits)) }
        self.steps = steps
        self.limits = limits
    }

    /// The next bytes from the wire. Only once `next()` has returned nil or has thrown.
    public mutating func feed(_ piece: Bytes) {
        guard failure == nil else { return }
        wireCount += piece.count
        if let first = steps.first { return first.feed(piece) }
        precondition(unchanged == nil, "There is still input to decode.")
        unchanged = piece.isEmpty ? nil : piece
    }

    /// The next decoded bytes, never empty; nil when it needs to be fed.
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

    /// The wire's last byte has been fed, and `next()` has returned nil since. Throws unless every coding is complete.
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

    /// Asks the last step; a step that has nothing is fed by the one before it.
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

    /// Against what has been used of the wire, not what has been fed: a large piece must not license a large bomb.
    private func checkRatio(_ produced: Int) throws(InflateError) {
        guard let ratio = limits.ratio, produced > limits.ratioFloor else { return }
        let (allowed, overflow) = wireUsed.multipliedReportingOverflow(by: ratio)
        if !overflow, produced > allowed { throw .ratioExceeded(limit: ratio) }
    }
}
