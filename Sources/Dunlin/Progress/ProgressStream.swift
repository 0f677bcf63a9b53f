internal import DunlinTransport
internal import Synchronization

/// What one listener has been told of a transfer.
///
/// Rules: the first value is told at once, whatever it is; then only what differs from the last; the final one once,
/// and nothing after it. Between two looks any number of changes are one.
struct ProgressTeller {
    private let direction: HTTPSession.Direction
    private var meter = RateMeter()
    private var last: HTTPSession.TransferProgress?
    private(set) var version: UInt64?

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
            let (isOver, version) = listener.teller.withLock { ($0.isOver, $0.version) }
            guard !isOver, let (tally, latest) = await tally(after: version) else { return nil }
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
