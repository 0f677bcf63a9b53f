internal import DunlinReactor
internal import DunlinSecure
internal import Synchronization

/// Writes a body to a part file on a disk thread, while reading continues.
///
/// It uses little memory: only a few chunks are unwritten, and their memory is reused for receiving.
final class DownloadWriter: Sendable {
    typealias Waiter = ValueWaiter<Void>

    private struct State {
        var start: Int
        var machine: WriterMachine<Bytes, Waiter, Errno>
        /// The memory of written chunks.
        var spares: [[UInt8]] = []
    }

    let content: PartContent
    private let loop: Reactor
    private let threads: DiskThreads
    /// The number of unwritten bytes at which there is no more room; there is again at half of it.
    private let room: Int
    private let state: Mutex<State>

    /// The number of bytes after which others get a turn on the disk thread.
    private static var turn: Int { 8 << 20 }
    private static var keptSpares: Int { 8 }
    /// The size up to which memory is not worth keeping.
    private static var smallSpare: Int { 64 << 10 }

    /// Creates a writer that begins at the offset `start`.
    init(
        _ content: PartContent, at start: Int = 0, room: Int = 2 << 20, on loop: Reactor,
        threads: DiskThreads = .shared
    ) {
        self.content = content
        self.room = room
        self.loop = loop
        self.threads = threads
        state = Mutex(State(start: start, machine: WriterMachine(high: room, low: room / 2)))
    }

    var file: PartFile { content.file }

    /// Sets where the next bytes are written. Call it only while nothing is written.
    func move(to start: Int) {
        state.withLock { ($0.start, $0.machine) = (start, WriterMachine(high: room, low: room / 2)) }
    }

    /// The offset after the last byte written.
    var position: Int { state.withLock { $0.start + $0.machine.written } }

    /// Takes a chunk. Returns memory to receive into, if there is any.
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

    /// Waits until there is room for more.
    func waitForRoom(until deadline: HTTP.Instant, _ cancellation: Cancellation) async throws(Errno) -> Waiter.Outcome {
        try await wait(until: deadline, cancellation) { $0.waitForRoom($1) }
    }

    /// Waits until everything is written.
    func flush(until deadline: HTTP.Instant, _ cancellation: Cancellation?) async throws(Errno) -> Waiter.Outcome {
        try await wait(until: deadline, cancellation) { $0.waitForRest($1) }
    }

    /// Discards unwritten bytes, and waits until writing has stopped.
    func stop() async {
        _ = state.withLock { $0.machine.fail(.cancelled) }
        let waiter = Waiter(on: loop)
        guard state.withLock({ $0.machine.waitForRest(waiter) }) else { return }
        _ = await waiter.wait(until: .never, cancellation: nil)
    }

    private func wait(
        until deadline: HTTP.Instant, _ cancellation: Cancellation?,
        _ begin: (inout WriterMachine<Bytes, Waiter, Errno>, Waiter) -> Bool
    ) async throws(Errno) -> Waiter.Outcome {
        let waiter = Waiter(on: loop)
        var outcome = Waiter.Outcome.value(())
        if state.withLock({ begin(&$0.machine, waiter) }) {
            outcome = await waiter.wait(until: deadline, cancellation: cancellation)
        }
        let failure = state.withLock { state in
            state.machine.leave()
            return state.machine.failure
        }
        if let failure { throw failure }
        return outcome
    }
}

// MARK: - On a disk thread

extension DownloadWriter {
    private func write() {
        var left = Self.turn
        while left > 0 {
            let (piece, offset, waiter) = state.withLock { state in
                let (piece, waiter) = state.machine.next()
                return (piece, state.start + state.machine.written, waiter)
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
            let isBehind = try content.wrote(piece, at: offset, loop.now())
            if isBehind { threads.start { [content, threads] in content.catchUp(on: threads) } }
        } catch {
            return state.withLock { $0.machine.fail(error) }
        }
        return state.withLock { state in
            if state.spares.count < Self.keptSpares, piece.storage.count >= Self.smallSpare {
                state.spares.append(piece.storage)
            }
            return state.machine.wrote(piece.count)
        }
    }
}
