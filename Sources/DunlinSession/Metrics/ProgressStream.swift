internal import DunlinReactor
internal import DunlinRules
internal import DunlinTransport

/// Decides what one observer is told of a transfer.
///
/// Rules: the first value is told at once, whatever it is. Later values are told if they differ from the last. The
/// final value is told once, and nothing after it. Looks are a hundredth of a second apart, and all changes between two
/// looks are told as one: nobody can see more, and telling costs more than sending the bytes.
struct ProgressReporter {
    typealias Observation = (tally: Tally, version: UInt64, time: HTTP.Instant)

    private let direction: HTTPSession.Direction
    private var meter = RateMeter()
    private var last: HTTPSession.TransferProgress?
    private(set) var version: UInt64?
    /// The earliest time of the next value, unless it is the final one.
    private(set) var nextTime = HTTP.Instant(nanoseconds: 0)

    private static var interval: Int64 { 10_000_000 }

    init(_ direction: HTTPSession.Direction) {
        self.direction = direction
    }

    /// Whether everything has been told.
    var isOver: Bool { last?.isFinal == true }

    /// The value to tell; nil if there is nothing new.
    mutating func tell(_ tally: Tally, _ version: UInt64, at now: HTTP.Instant) -> HTTPSession.TransferProgress? {
        self.version = version
        var progress = HTTPSession.TransferProgress(tally, direction)
        var told = last
        told?.bytesPerSecond = nil
        guard progress != told else { return nil }
        meter.note(progress.wireBytes, at: now)
        progress.bytesPerSecond = meter.rate
        last = progress
        nextTime = now.advanced(by: Self.interval)
        return progress
    }
}

extension TransferControl {
    /// The progress now, then the newest value whenever it has changed, then the final one. Nothing is computed or kept
    /// for an observer that is not asking.
    func progress(_ direction: HTTPSession.Direction) -> AsyncStream<HTTPSession.TransferProgress> {
        AsyncStream(knowing: ProgressReporter(direction)) { [self] teller -> ProgressReporter.Observation? in
            guard !teller.isOver,
                let (tally, version) = await tally(after: teller.version, notBefore: teller.nextTime)
            else { return nil }
            return (tally, version, now())
        } tell: { teller, observation in
            teller.tell(observation.tally, observation.version, at: observation.time)
        }
    }
}
