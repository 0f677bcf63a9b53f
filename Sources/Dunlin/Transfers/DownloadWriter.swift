internal import DunlinReactor
internal import DunlinSecure
internal import Synchronization

/// Writes a body into a part file, on a disk thread, while whoever brings it reads on.
///
/// Memory stays flat: a few pieces at most are unwritten, and what they lay in is received into again.
final class DownloadWriter: Sendable {
    typealias Waiter = Parking<Void>

    private struct State {
        var machine: WriterMachine<Bytes, Waiter, Errno>
        /// Memory of pieces that have been written.
        var spares: [[UInt8]] = []
    }

    let file: PartFile
    private let start: Int
    private let loop: Reactor
    private let threads: DiskThreads
    private let state: Mutex<State>
    /// Sees every piece; used by whoever writes just now, or is done with that.
    private let digester: Mutex<Digester?>

    /// Unwritten bytes with which there is no room, and those with which there is again.
    private static var high: Int { 2 << 20 }
    private static var low: Int { 1 << 20 }
    /// Bytes after which others get their turn on the disk thread.
    private static var turn: Int { 8 << 20 }
    private static var keptSpares: Int { 8 }
    /// What is not worth keeping.
    private static var smallSpare: Int { 64 << 10 }

    /// Writes from `start` on. Throws if no such digest can be made.
    init(
        _ file: PartFile, from start: Int = 0, digest: DigestAlgorithm?, on loop: Reactor,
        threads: DiskThreads = .shared
    ) throws(Digester.Unavailable) {
        if let digest { digester = Mutex(try Digester(digest)) } else { digester = Mutex(nil) }
        self.file = file
        self.start = start
        self.loop = loop
        self.threads = threads
        state = Mutex(State(machine: WriterMachine(high: Self.high, low: Self.low)))
    }

    /// Bytes of the file that have been written, those before `start` included.
    var position: Int { start + state.withLock { $0.machine.written } }

    /// Takes a piece. What it gives back is memory to receive into, if there is any.
    func put(_ piece: Bytes) throws(Errno) -> (isFull: Bool, spare: [UInt8]?) {
        if piece.isEmpty { return (false, nil) }
        let (mustStart, isFull, spare, failure) = state.withLock { state in
            let mustStart = state.machine.offer(piece, piece.count)
            return (mustStart, state.machine.isFull, state.spares.popLast(), state.machine.failure)
        }
        if let failure { throw failure }
        if mustStart { threads.start { self.write() } }
        return (isFull, spare)
    }

    /// Waits until there is room.
    func waitForRoom(until deadline: MonotonicTime, _ interrupt: Interrupt) async throws(Errno) -> Waiter.Outcome {
        try await wait(until: deadline, interrupt) { $0.waitForRoom($1) }
    }

    /// Waits until all is written.
    func flush(until deadline: MonotonicTime, _ interrupt: Interrupt) async throws(Errno) -> Waiter.Outcome {
        try await wait(until: deadline, interrupt) { $0.waitForRest($1) }
    }

    /// Of all that was written, once that is whole; nil if none was asked for.
    func digest() throws(Digester.Unavailable) -> ContentDigest? {
        guard let digester = digester.withLock({ $0.take() }) else { return nil }
        return try digester.finish()
    }

    /// Forgets what is not written yet, and waits until nobody writes any more.
    func stop() async {
        _ = state.withLock { $0.machine.fail(.cancelled) }
        let waiter = Waiter(on: loop)
        guard state.withLock({ $0.machine.waitForRest(waiter) }) else { return }
        _ = await waiter.wait(until: .never, interrupt: nil)
    }

    private func wait(
        until deadline: MonotonicTime, _ interrupt: Interrupt,
        _ begin: (inout WriterMachine<Bytes, Waiter, Errno>, Waiter) -> Bool
    ) async throws(Errno) -> Waiter.Outcome {
        let waiter = Waiter(on: loop)
        var outcome = Waiter.Outcome.value(())
        if state.withLock({ begin(&$0.machine, waiter) }) {
            outcome = await waiter.wait(until: deadline, interrupt: interrupt)
        }
        let failure = state.withLock { state in
            state.machine.leave()
            return state.machine.failure
        }
        if let failure { throw failure }
        return outcome
    }

    /// On a disk thread.
    private func write() {
        var left = Self.turn
        while left > 0 {
            let (piece, offset, waiter) = state.withLock { state in
                let (piece, waiter) = state.machine.next()
                return (piece, start + state.machine.written, waiter)
            }
            _ = waiter?.deliver(())
            guard let piece else { return }
            left -= piece.count
            _ = write(piece, at: offset)?.deliver(())
        }
        threads.start { self.write() }
    }

    private func write(_ piece: Bytes, at offset: Int) -> Waiter? {
        do throws(Errno) {
            try piece.withUnsafeBytes { bytes throws(Errno) in try file.write(bytes, at: offset) }
        } catch {
            return state.withLock { $0.machine.fail(error) }
        }
        digester.withLock { digester in
            piece.withUnsafeBytes { digester?.update($0) }
        }
        return state.withLock { state in
            if state.spares.count < Self.keptSpares, piece.storage.count >= Self.smallSpare {
                state.spares.append(piece.storage)
            }
            return state.machine.wrote(piece.count)
        }
    }
}
