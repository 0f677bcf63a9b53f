internal import DunlinReactor
internal import DunlinSecure
internal import Synchronization

/// Writes a body into a part file, on a disk thread, while whoever brings it reads on.
///
/// Memory stays flat: a few pieces at most are unwritten, and what they lay in is received into again.
final class DownloadWriter: Sendable {
    typealias Waiter = Parking<Void>

    private struct State {
        var start: Int
        var machine: WriterMachine<Bytes, Waiter, Errno>
        /// Memory of pieces that have been written.
        var spares: [[UInt8]] = []
    }

    let file: PartFile
    private let loop: Reactor
    private let threads: DiskThreads
    private let state: Mutex<State>
    /// Sees every piece; used by whoever writes just now, or is done with that.
    private let content: Mutex<FileContent>

    /// Unwritten bytes with which there is no room, and those with which there is again.
    private static var high: Int { 2 << 20 }
    private static var low: Int { 1 << 20 }
    /// Bytes after which others get their turn on the disk thread.
    private static var turn: Int { 8 << 20 }
    private static var keptSpares: Int { 8 }
    /// What is not worth keeping.
    private static var smallSpare: Int { 64 << 10 }

    /// Throws if no such digest can be made.
    init(
        _ file: PartFile, digest: DigestAlgorithm?, on loop: Reactor, threads: DiskThreads = .shared
    ) throws(Digester.Unavailable) {
        content = Mutex(try FileContent(digest))
        self.file = file
        self.loop = loop
        self.threads = threads
        state = Mutex(State(start: 0, machine: Self.machine))
    }

    private static var machine: WriterMachine<Bytes, Waiter, Errno> { WriterMachine(high: high, low: low) }

    /// Bytes of the file that are written and count.
    var position: Int { state.withLock { $0.start + $0.machine.written } }

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
    func flush(until deadline: MonotonicTime, _ interrupt: Interrupt?) async throws(Errno) -> Waiter.Outcome {
        try await wait(until: deadline, interrupt) { $0.waitForRest($1) }
    }

    /// Forgets what is not written yet, and waits until nobody writes any more.
    func stop() async {
        _ = state.withLock { $0.machine.fail(.cancelled) }
        let waiter = Waiter(on: loop)
        guard state.withLock({ $0.machine.waitForRest(waiter) }) else { return }
        _ = await waiter.wait(until: .never, interrupt: nil)
    }

    private func wait(
        until deadline: MonotonicTime, _ interrupt: Interrupt?,
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
            let now = loop.now()
            try content.withLock { content throws(Errno) in
                piece.withUnsafeBytes { content.see($0) }
                try content.note(upTo: offset + piece.count, at: now)
            }
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

// MARK: - While nobody writes, on a disk thread

extension DownloadWriter {
    /// Throws away what is there. `record` is what speaks of the new beginning, made already.
    func begin(_ record: RecordFile?) throws(Errno) {
        try content.withLock { content throws(Errno) in try content.begin(record) }
        try file.truncate(to: 0)
        state.withLock { ($0.start, $0.machine) = (0, Self.machine) }
    }

    /// Goes on after a piece that is there, if it is what it was; false if not. `isOver` is asked now and then whether
    /// that is still wanted.
    func takeUp(_ piece: ResumeData.Piece, unless isOver: () -> Bool) throws(Errno) -> Bool {
        let end = piece.range.upperBound
        let isThere = try readAgain(upTo: end) { bytes throws(Errno) in
            if isOver() { throw .cancelled }
            content.withLock { content in bytes.withUnsafeBytes { content.seeAgain($0) } }
        }
        guard isThere, content.withLock({ $0.checksum.value }) == piece.checksum else { return false }
        state.withLock { ($0.start, $0.machine) = (end, Self.machine) }
        return true
    }

    /// What is there, for whoever wants to go on with it. Reads it, if nobody has counted along.
    func piece() throws(Errno) -> ResumeData.Piece {
        let end = position
        if let checksum = content.withLock({ $0.currentChecksum }) {
            return ResumeData.Piece(range: 0..<end, checksum: checksum)
        }
        var checksum = Checksum()
        let isThere = try readAgain(upTo: end) { bytes in bytes.withUnsafeBytes { checksum.update($0) } }
        guard isThere else { throw .noSuchFile }
        return ResumeData.Piece(range: 0..<end, checksum: checksum.value)
    }

    /// Of all that is there, read again.
    func digest(_ algorithm: DigestAlgorithm) throws -> ContentDigest {
        var digester = try Digester(algorithm)
        let isThere = try readAgain(upTo: position) { bytes in bytes.withUnsafeBytes { digester.update($0) } }
        guard isThere else { throw Errno.noSuchFile }
        return try digester.finish()
    }

    /// What is there, piece by piece; false if that is less.
    private func readAgain(
        upTo end: Int, _ see: (Bytes) throws(Errno) -> Void
    ) throws(Errno) -> Bool {
        var offset = 0
        while offset < end {
            let bytes = Bytes(try file.read(at: offset, upTo: min(1 << 20, end - offset)))
            if bytes.isEmpty { return false }
            try see(bytes)
            offset += bytes.count
        }
        return true
    }

    /// From now on what is written is noted there as well.
    func keep(_ record: RecordFile) {
        content.withLock { $0.record = record }
    }

    /// Brings the record up to date; false if there is none.
    func updateRecord() throws(Errno) -> Bool {
        let end = position
        return try content.withLock { content throws(Errno) in try content.update(upTo: end) }
    }

    /// Of all that was written, once that is whole; nil if none was asked for.
    func digest() throws(Digester.Unavailable) -> ContentDigest? {
        guard let digester = content.withLock({ $0.digester.take() }) else { return nil }
        return try digester.finish()
    }
}

/// What is known of a file's contents while it is being written.
private struct FileContent: ~Copyable {
    private let algorithm: DigestAlgorithm?
    var digester: Digester?
    var checksum = Checksum()
    /// What speaks of the file; nil if nothing does.
    var record: RecordFile?
    private var noted = 0
    private var nextTime = MonotonicTime(nanoseconds: 0)

    /// What is fetched again at most after a kill: so many bytes, or what came in so many nanoseconds.
    private static var interval: Int { 4 << 20 }
    private static var time: Int64 { 1_000_000_000 }

    init(_ algorithm: DigestAlgorithm?) throws(Digester.Unavailable) {
        self.algorithm = algorithm
        if let algorithm { digester = try Digester(algorithm) }
    }

    /// Nil if nobody has counted along.
    var currentChecksum: UInt64? { record == nil ? nil : checksum.value }

    mutating func begin(_ record: RecordFile?) throws(Errno) {
        self.record = record
        checksum = Checksum()
        noted = 0
        do throws(Digester.Unavailable) {
            if let algorithm { digester = try Digester(algorithm) }
        } catch {
            // It could be made before. Without it the file will not be what it should.
            digester = nil
        }
    }

    mutating func see(_ bytes: UnsafeRawBufferPointer) {
        digester?.update(bytes)
        if record != nil { checksum.update(bytes) }
    }

    mutating func seeAgain(_ bytes: UnsafeRawBufferPointer) {
        digester?.update(bytes)
        checksum.update(bytes)
        noted += bytes.count
    }

    /// The bytes are in the file before the record speaks of them.
    mutating func note(upTo offset: Int, at now: MonotonicTime) throws(Errno) {
        guard record != nil, offset - noted >= Self.interval || now >= nextTime else { return }
        nextTime = now.advanced(by: Self.time)
        _ = try update(upTo: offset)
    }

    mutating func update(upTo offset: Int) throws(Errno) -> Bool {
        guard let record else { return false }
        noted = offset
        if offset > 0 { try record.note(ResumeData.Piece(range: 0..<offset, checksum: checksum.value)) }
        return true
    }
}
