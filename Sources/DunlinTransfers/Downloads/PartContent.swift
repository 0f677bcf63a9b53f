internal import DunlinReactor
internal import DunlinSecure
internal import Synchronization

/// The known contents of a part file that one or more writers are writing: which bytes are there, their checksums and
/// the record that lists them, and the digest of the whole.
///
/// A digest needs bytes in order. Bytes that come in order are hashed at once; those written further on are read again
/// when it is their turn, from memory if the file system still caches them.
///
/// Every call may wait for the disk.
final class PartContent: Sendable {
    private struct State {
        var spans = Spans()
        /// The file's record; nil if there is none, and then no checksums are computed.
        var record: RecordFile?
        /// The number of bytes that the record lists, and the time when it is next written in any case.
        var noted = 0
        var nextTime = HTTP.Instant(nanoseconds: 0)
    }

    /// The digest of the bytes before `end`.
    private struct Prefix: ~Copyable {
        var digester: Digester?
        var end = 0
    }

    let file: PartFile
    private let algorithm: ContentDigest.Algorithm?
    private let state = Mutex(State())
    private let prefix: Mutex<Prefix>
    /// A copy of the prefix's end, which can be read without the lock.
    private let hashed = Atomic<Int>(0)
    private let isCatchingUp = Atomic<Bool>(false)
    private let isOver = Atomic<Bool>(false)

    /// How much must at most be fetched again after a kill, in addition to unwritten bytes: so many bytes, or those of
    /// so many nanoseconds.
    private static var interval: Int { 4 << 20 }
    private static var time: Int64 { 1_000_000_000 }
    /// The number of bytes after which others get a turn on the disk thread; fewer are not worth catching up with.
    private static var turn: Int { 8 << 20 }
    /// The number of bytes that are read again at once.
    private static var step: Int { 1 << 20 }

    /// Throws if the digest cannot be computed.
    init(_ file: PartFile, digest algorithm: ContentDigest.Algorithm?) throws(Digester.Unavailable) {
        self.file = file
        self.algorithm = algorithm
        prefix = Mutex(Prefix(digester: try Self.digester(algorithm)))
    }

    private static func digester(_ algorithm: ContentDigest.Algorithm?) throws(Digester.Unavailable) -> Digester? {
        guard let algorithm else { return nil }
        return try Digester(algorithm)
    }

    var hasDigest: Bool { algorithm != nil }

    /// The number of bytes that count.
    var byteCount: Int { state.withLock { $0.spans.byteCount } }

    /// The end of the bytes that are there from the beginning on without a gap.
    var prefixEnd: Int { state.withLock { $0.spans.prefixEnd } }

    /// A copy of what is there now, to return to.
    var contents: Spans { state.withLock { $0.spans } }

    /// Returns to earlier contents, while nothing is written. Later bytes no longer count; `trim` removes them.
    func goBack(to contents: Spans) {
        state.withLock { $0.spans = contents }
    }

    /// Removes what is in the file behind the last byte that counts, and gives back what is reserved there. Without
    /// this, bytes of which no digest and no record knows could become a part of the file. Throws if bytes that count
    /// are gone.
    func trim() throws(Errno) {
        let end = contents.end
        guard try file.status().length >= end else { throw .noSuchFile }
        try file.truncate(to: end)
    }

    /// The missing ranges of a file with this length, in order.
    func gaps(upTo length: Int) -> [Range<Int>] { state.withLock { $0.spans.gaps(upTo: length) } }

    /// Drops the digest, which is no longer needed.
    func end() {
        isOver.store(true, ordering: .relaxed)
    }
}

// MARK: - Writing

extension PartContent {
    /// Notes that `piece` was written where nothing was before. Returns whether the caller should catch up with the
    /// digest.
    func wrote(_ piece: Bytes, at offset: Int, _ now: HTTP.Instant) throws(Errno) -> Bool {
        let end = try state.withLock { state throws(Errno) in
            piece.withUnsafeBytes { state.spans.add($0, at: offset, isCounted: state.record != nil) }
            try note(&state, now)
            return algorithm == nil ? 0 : state.spans.prefixEnd
        }
        if algorithm == nil { return false }
        if hashed.load(ordering: .relaxed) == offset {
            prefix.withLock { prefix in
                // Somebody else may have read the bytes from the file already.
                guard prefix.end == offset else { return }
                piece.withUnsafeBytes { hash($0, &prefix) }
            }
        }
        guard end - hashed.load(ordering: .relaxed) > Self.turn else { return false }
        return !isCatchingUp.exchange(true, ordering: .relaxed)
    }

    /// Updates the record, once the bytes are in the file.
    private func note(_ state: inout State, _ now: HTTP.Instant) throws(Errno) {
        guard state.record != nil else { return }
        guard now >= state.nextTime || state.spans.byteCount - state.noted >= Self.interval else { return }
        state.nextTime = now.advanced(by: Self.time)
        _ = try update(&state)
    }

    private func update(_ state: inout State) throws(Errno) -> Bool {
        guard state.record != nil else { return false }
        state.noted = state.spans.byteCount
        let pieces = state.spans.pieces
        if state.noted > 0 { try state.record?.note(pieces) }
        return true
    }

    /// Brings the record up to date. Returns false if there is none.
    func updateRecord() throws(Errno) -> Bool {
        try state.withLock { state throws(Errno) in try update(&state) }
    }

    /// Keeps this record up to date from now on.
    func keep(_ record: RecordFile) {
        state.withLock { $0.record = record }
    }

    /// Discards what is there. `record` is the new record, already created.
    func begin(_ record: RecordFile?) throws(Errno) {
        // Done first, so that nobody continues reading a file that has been emptied.
        state.withLock { $0 = State(record: record) }
        // Under the lock that reading the file takes, so that only new content is hashed from now on.
        try prefix.withLock { prefix throws(Errno) in
            try file.truncate(to: 0)
            do throws(Digester.Unavailable) {
                prefix.digester = try Self.digester(algorithm)
            } catch {
                // The digest could be created before; without one the file would not be verified.
                prefix.digester = nil
            }
            prefix.end = 0
            hashed.store(0, ordering: .relaxed)
        }
    }
}

// MARK: - Digests

extension PartContent {
    private func hash(_ bytes: UnsafeRawBufferPointer, _ prefix: inout Prefix) {
        prefix.digester?.update(bytes)
        prefix.end += bytes.count
        hashed.store(prefix.end, ordering: .relaxed)
    }

    /// Hashes bytes that are there in order but were not hashed on arrival, one turn at a time.
    func catchUp(on threads: DiskThreads) {
        do throws(Errno) {
            if try hash(upTo: hashed.load(ordering: .relaxed) + Self.turn) {
                return threads.start { self.catchUp(on: threads) }
            }
        } catch {
            // The error will recur when the digest is requested at the end.
        }
        isCatchingUp.store(false, ordering: .relaxed)
    }

    /// Hashes the bytes of one turn. Returns whether there are more.
    private func hash(upTo limit: Int) throws(Errno) -> Bool {
        let end = prefixEnd
        while try hashStep(upTo: min(end, limit)) {
            if isOver.load(ordering: .relaxed) { throw .cancelled }
        }
        return end > limit
    }

    private func hashStep(upTo end: Int) throws(Errno) -> Bool {
        try prefix.withLock { prefix throws(Errno) in
            // The bytes from before the part was emptied are gone: there may be a hole instead.
            let end = min(end, prefixEnd)
            guard prefix.end < end else { return false }
            let bytes = Bytes(try file.read(at: prefix.end, upTo: min(Self.step, end - prefix.end)))
            if bytes.isEmpty { throw .noSuchFile }
            bytes.withUnsafeBytes { hash($0, &prefix) }
            return true
        }
    }

    /// The digest of the complete file; nil if none was requested. `isOver` is called now and then to learn whether to
    /// stop.
    func digest(unless isOver: () -> Bool) throws -> ContentDigest? {
        if algorithm == nil { return nil }
        while try hash(upTo: hashed.load(ordering: .relaxed) + Self.turn) {
            if isOver() { throw Errno.cancelled }
        }
        guard let digester = prefix.withLock({ $0.digester.take() }) else { return nil }
        return try digester.finish()
    }

    /// The digest of everything that is there, read again. `isOver` is called now and then to learn whether to stop.
    func digest(_ algorithm: ContentDigest.Algorithm, unless isOver: () -> Bool) throws -> ContentDigest {
        var digester = try Digester(algorithm)
        let isThere = try read(0..<prefixEnd) { bytes throws(Errno) in
            if isOver() { throw .cancelled }
            bytes.withUnsafeBytes { digester.update($0) }
        }
        guard isThere else { throw Errno.noSuchFile }
        return try digester.finish()
    }
}

// MARK: - Going on

extension PartContent {
    /// Continues from these pieces, which are in order. Returns false if they have changed. `isOver` is called now and
    /// then to learn whether to stop.
    func takeUp(_ pieces: [ResumeData.Piece], unless isOver: () -> Bool) throws(Errno) -> Bool {
        var spans = Spans()
        for piece in pieces {
            var checksum = Checksum()
            let isThere = try read(piece.range) { bytes throws(Errno) in
                if isOver() { throw .cancelled }
                let offset = piece.range.lowerBound + checksum.count
                bytes.withUnsafeBytes { checksum.update($0) }
                prefix.withLock { prefix in
                    guard prefix.end == offset else { return }
                    bytes.withUnsafeBytes { hash($0, &prefix) }
                }
            }
            guard isThere, checksum.value == piece.checksum else { return false }
            spans.add(piece.range, checksum)
        }
        state.withLock { state in
            state.noted = spans.byteCount
            state.spans = spans
        }
        return true
    }

    /// The pieces that are there, for resume data. It reads them if no checksums were computed; `isOver` is called now
    /// and then to learn whether to stop.
    func pieces(unless isOver: () -> Bool) throws(Errno) -> [ResumeData.Piece] {
        let (pieces, areCounted) = state.withLock { ($0.spans.pieces, $0.record != nil) }
        if areCounted { return pieces }
        var counted: [ResumeData.Piece] = []
        for piece in pieces {
            var checksum = Checksum()
            let isThere = try read(piece.range) { bytes throws(Errno) in
                if isOver() { throw .cancelled }
                bytes.withUnsafeBytes { checksum.update($0) }
            }
            guard isThere else { throw .noSuchFile }
            counted.append(ResumeData.Piece(range: piece.range, checksum: checksum.value))
        }
        return counted
    }

    /// Reads a range in steps. Returns false if the file is shorter.
    private func read(_ range: Range<Int>, _ see: (Bytes) throws(Errno) -> Void) throws(Errno) -> Bool {
        var offset = range.lowerBound
        while offset < range.upperBound {
            let bytes = Bytes(try file.read(at: offset, upTo: min(Self.step, range.upperBound - offset)))
            if bytes.isEmpty { return false }
            try see(bytes)
            offset += bytes.count
        }
        return true
    }
}
