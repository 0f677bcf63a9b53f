internal import DunlinTransport
internal import Synchronization

/// What one listener has been told of a transfer.
///
/// Rules: the first value is told at once, whatever it is; then only what differs from the last; the final one once,
/// and nothing after it. Between two looks any number of changes are one, and looks are a hundredth of a second apart:
/// nobody sees more, and being told costs more than being sent what is told of.
struct ProgressTeller {
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

extension TransferWatch {
    /// The progress as it is now, then the newest whenever it has changed, then the final one. Nothing is computed or
    /// kept for a listener who is not asking.
    func progress(_ direction: HTTPSession.Direction) -> AsyncStream<HTTPSession.TransferProgress> {
        let listener = Listener(direction)
        return AsyncStream { [self] in await next(for: listener) }
    }

    private func next(for listener: Listener) async -> HTTPSession.TransferProgress? {
        while true {
            let (isOver, version, time) = listener.teller.withLock { ($0.isOver, $0.version, $0.nextTime) }
            guard !isOver, let (tally, latest) = await tally(after: version, notBefore: time) else { return nil }
            let now = now()
            if let news = listener.teller.withLock({ $0.tell(tally, latest, at: now) }) { return news }
        }
    }

    private final class Listener: Sendable {
        let teller: Mutex<ProgressTeller>

        init(_ direction: HTTPSession.Direction) {
            teller = Mutex(ProgressTeller(direction))
        }
    }
}
