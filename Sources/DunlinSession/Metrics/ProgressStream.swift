internal import DunlinReactor
internal import DunlinRules
internal import DunlinTransport

/// Decides what to report of a transfer to one observer.
///
/// Rules: the first value is reported at once, whatever it is. Later values are reported if they differ from the last.
/// The final value is reported once, and nothing after it. Reports are at least a hundredth of a second apart and
/// combine all changes in between: nobody can see more, and reporting costs more than sending the bytes.
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

    /// Whether everything has been reported.
    var isOver: Bool { last?.isFinal == true }

    /// The value to report; nil if there is nothing new.
    mutating func tell(_ tally: Tally, _ version: UInt64, at now: HTTP.Instant) -> HTTPSession.TransferProgress? {
        self.version = version
        var progress = HTTPSession.TransferProgress(tally, direction)
        var former = last
        former?.bytesPerSecond = nil
        guard progress != former else { return nil }
        meter.note(progress.wireBytes, at: now)
        progress.bytesPerSecond = meter.rate
        last = progress
        nextTime = now.advanced(by: Self.interval)
        return progress
    }
}

extension TransferControl {
    /// The progress: the current value, then the newest after each change, then the final one. Nothing is computed or
    /// stored while an observer is not asking.
    func progress(_ direction: HTTPSession.Direction) -> AsyncStream<HTTPSession.TransferProgress> {
        AsyncStream(knowing: ProgressReporter(direction)) { [self] reporter -> ProgressReporter.Observation? in
            guard !reporter.isOver,
                let (tally, version) = await tally(after: reporter.version, notBefore: reporter.nextTime)
            else { return nil }
            return (tally, version, now())
        } tell: { reporter, observation in
            reporter.tell(observation.tally, observation.version, at: observation.time)
        }
    }
}
