internal import DunlinReactor
internal import DunlinTransport

/// What one listener has been told of a transfer.
///
/// Rules: the first value is told at once, whatever it is; then only what differs from the last; the final one once,
/// and nothing after it. Between two looks any number of changes are one, and looks are a hundredth of a second apart:
/// nobody sees more, and being told costs more than being sent what is told of.
struct ProgressReporter {
    typealias Sight = (tally: Tally, version: UInt64, time: MonotonicTime)

    private let direction: HTTPSession.Direction
    private var meter = RateMeter()
    private var last: HTTPSession.TransferProgress?
    private(set) var version: UInt64?
    /// When the next value may be told, unless it is the final one.
    private(set) var nextTime = MonotonicTime(nanoseconds: 0)

    private static var interval: Int64 { 10_000_000 }

    init(_ direction: HTTPSession.Direction) {
        self.direction = direction
    }

    /// Everything has been told.
    var isOver: Bool { last?.isFinal == true }

    /// What to tell; nil if it is nothing new.
    mutating func tell(_ tally: Tally, _ version: UInt64, at now: MonotonicTime) -> HTTPSession.TransferProgress? {
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
    /// The progress as it is now, then the newest whenever it has changed, then the final one. Nothing is computed or
    /// kept for a listener who is not asking.
    func progress(_ direction: HTTPSession.Direction) -> AsyncStream<HTTPSession.TransferProgress> {
        AsyncStream(knowing: ProgressReporter(direction)) { [self] teller -> ProgressReporter.Sight? in
            guard !teller.isOver,
                let (tally, version) = await tally(after: teller.version, notBefore: teller.nextTime)
            else { return nil }
            return (tally, version, now())
        } tell: { teller, sight in
            teller.tell(sight.tally, sight.version, at: sight.time)
        }
    }
}
