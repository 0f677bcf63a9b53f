public import DunlinReactor
public import DunlinTypes
internal import Synchronization

/// What those who look after one request share with its exchange: whether it may go on, and how far it has come.
///
/// A request that nobody watches has none. The exchange writes the tally as bytes move and stands still, before it
/// takes more from the socket or gives more to it, while the watch holds it; whoever wants to know how far things are
/// asks. Nobody is called back.
public final class TransferWatch: Sendable {
    private struct Book {
        var tally = Tally()
        /// Counts the changes.
        var version: UInt64 = 0
        var readers: [Parking<Void>] = []
    }

    private let reactor: Reactor
    private let hold = Mutex(HoldMachine<Parking<Void>>())
    private let book = Mutex(Book())

    public init(on reactor: Reactor) {
        self.reactor = reactor
    }

    public func now() -> MonotonicTime { reactor.now() }
}

// MARK: - Holding

extension TransferWatch {
    public var isHeld: Bool { hold.withLock { $0.isHeld } }

    /// Nanoseconds for which the transfer was held from `time` on.
    func heldTime(since time: MonotonicTime) -> Int64 {
        let now = reactor.now()
        return hold.withLock { $0.heldTime(since: time, at: now) }
    }

    /// Whether that changed anything: nothing is held twice, or once it is over.
    public func suspend() -> Bool {
        let now = reactor.now()
        return hold.withLock { $0.hold(at: now) }
    }

    /// Whether that changed anything.
    public func resume() -> Bool {
        let now = reactor.now()
        guard let waiters = hold.withLock({ $0.release(at: now) }) else { return false }
        for waiter in waiters { _ = waiter.deliver(()) }
        return true
    }

    /// The request is being cancelled: what is held goes on, to find that out.
    public func stop() {
        let now = reactor.now()
        for waiter in hold.withLock({ $0.end(at: now) }) { _ = waiter.deliver(()) }
    }

    /// Waits while the transfer is held; false if the time came first.
    public func pass(until deadline: MonotonicTime) async -> Bool {
        while true {
            let parking = Parking<Void>(on: reactor)
            guard let number = hold.withLock({ $0.wait(parking) }) else { return true }
            let outcome = await parking.wait(until: deadline, interrupt: nil)
            hold.withLock { $0.leave(number) }
            if case .timedOut = outcome { return false }
        }
    }
}

// MARK: - Counting

extension TransferWatch {
    public var tally: Tally { book.withLock { $0.tally } }

    /// The tally once it is another than that of `version`, with its own version; at once for a version of nil. Nil
    /// when the awaiting task is cancelled.
    public func tally(after version: UInt64?) async -> (tally: Tally, version: UInt64)? {
        while !Task.isCancelled {
            let parking = Parking<Void>(on: reactor)
            let news = book.withLock { book -> (Tally, UInt64)? in
                guard book.version == version else { return (book.tally, book.version) }
                book.readers.append(parking)
                return nil
            }
            if let news { return news }
            await withTaskCancellationHandler {
                _ = await parking.wait(until: .never, interrupt: nil)
            } onCancel: {
                parking.interrupt()
            }
            book.withLock { $0.readers.removeAll { $0 === parking } }
        }
        return nil
    }

    public func beginSending(_ total: Int?) { note { $0.beginSending(total) } }

    public func sent(_ count: Int) { note { $0.sent(count) } }

    public func beginReceiving(_ total: Int?, isCoded: Bool) { note { $0.beginReceiving(total, isCoded: isCoded) } }

    public func received(upTo count: Int) { note { $0.received(upTo: count) } }

    public func decoded(upTo count: Int) { note { $0.decoded(upTo: count) } }

    /// The request has come to its end: the tally is final.
    public func end() {
        stop()
        note { $0.end() }
    }

    @inline(__always)
    private func note(_ change: (inout Tally) -> Void) {
        let readers = book.withLock { book -> [Parking<Void>] in
            let before = book.tally
            change(&book.tally)
            if book.tally == before { return [] }
            book.version += 1
            if book.readers.isEmpty { return [] }
            defer { book.readers = [] }
            return book.readers
        }
        for reader in readers { _ = reader.deliver(()) }
    }
}
