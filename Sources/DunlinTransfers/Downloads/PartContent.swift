internal import DunlinReactor
internal import DunlinSecure
internal import Synchronization

/// What is known of a part file's contents while it is being written, by one writer or several: which bytes are there,
/// their checksums and the record that lists them, and the digest of the whole.
///
/// A digest takes bytes in their order. Bytes that come in order are hashed as they come; those that others have
/// written further on are read again once it is their turn, from memory if the file system still has them there.
///
/// Every call may wait for a disk.
final class PartContent: Sendable {
    private struct Book {
        var spans = Spans()
        /// The record of the file; nil if there is none, and then no checksum is computed.
        var record: RecordFile?
        /// How many bytes the record speaks of, and when it is to be written in any case.
        var noted = 0
        var nextTime = MonotonicTime(nanoseconds: 0)
    }

    /// Of what lies before `end`.
    private struct Prefix: ~Copyable {
        var digester: Digester?
        var end = 0
    }

    let file: PartFile
    private let algorithm: ContentDigest.Algorithm?
    private let book = Mutex(Book())
    private let prefix: Mutex<Prefix>
    /// The prefix's end once more, for those who would have to wait for it.
    private let hashed = Atomic<Int>(0)
    private let isCatchingUp = Atomic<Bool>(false)
    private let isOver = Atomic<Bool>(false)

    /// What is fetched again at most after a kill, beside what is still to be written: so many bytes, or what came in
    /// so many nanoseconds.
    private static var interval: Int { 4 << 20 }
    private static var time: Int64 { 1_000_000_000 }
    /// Bytes after which others get their turn on the disk thread; fewer are not worth catching up with.
    private static var turn: Int { 8 << 20 }
    /// What is read again at once.
    private static var step: Int { 1 << 20 }

    /// Throws if no such digest can be made.
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

    /// How many bytes are there and count.
    var byteCount: Int { book.withLock { $0.spans.byteCount } }

    /// Up to where nothing is missing from the beginning on.
    var prefixEnd: Int { book.withLock { $0.spans.prefixEnd } }

    /// What there is now, to go back to.
    var contents: Spans { book.withLock { $0.spans } }

    /// Counts with nothing that has come since, while nobody writes: for whoever leaves it then. The file still has it.
    func goBack(to contents: Spans) {
        book.withLock { $0.spans = contents }
    }

    /// What is missing of a file of this length, in order.
    func gaps(upTo length: Int) -> [Range<Int>] { book.withLock { $0.spans.gaps(upTo: length) } }

    /// Nobody needs the digest any more.
    func end() {
        isOver.store(true, ordering: .relaxed)
    }
}

// MARK: - Writing

extension PartContent {
    /// `piece` is in the file, where nothing was. Whether somebody should catch up.
    func wrote(_ piece: Bytes, at offset: Int, _ now: MonotonicTime) throws(Errno) -> Bool {
        let end = try book.withLock { book throws(Errno) in
            piece.withUnsafeBytes { book.spans.add($0, at: offset, isCounted: book.record != nil) }
            try note(&book, now)
            return algorithm == nil ? 0 : book.spans.prefixEnd
        }
        if algorithm == nil { return false }
        if hashed.load(ordering: .relaxed) == offset {
            prefix.withLock { prefix in
                // Somebody may have read it from the file since.
                guard prefix.end == offset else { return }
                piece.withUnsafeBytes { hash($0, &prefix) }
            }
        }
        guard end - hashed.load(ordering: .relaxed) > Self.turn else { return false }
        return !isCatchingUp.exchange(true, ordering: .relaxed)
    }

    /// The bytes are in the file before the record speaks of them.
    private func note(_ book: inout Book, _ now: MonotonicTime) throws(Errno) {
        guard book.record != nil else { return }
        guard now >= book.nextTime || book.spans.byteCount - book.noted >= Self.interval else { return }
        book.nextTime = now.advanced(by: Self.time)
        _ = try update(&book)
    }

    private func update(_ book: inout Book) throws(Errno) -> Bool {
        guard book.record != nil else { return false }
        book.noted = book.spans.byteCount
        let pieces = book.spans.pieces
        if book.noted > 0 { try book.record?.note(pieces) }
        return true
    }

    /// Brings the record up to date; false if there is none.
    func updateRecord() throws(Errno) -> Bool {
        try book.withLock { book throws(Errno) in try update(&book) }
    }

    /// From now on what is written is noted there as well.
    func keep(_ record: RecordFile) {
        book.withLock { $0.record = record }
    }

    /// Throws away what is there. `record` is what speaks of the new beginning, made already.
    func begin(_ record: RecordFile?) throws(Errno) {
        book.withLock { $0 = Book(record: record) }
        prefix.withLock { prefix in
            do throws(Digester.Unavailable) {
                prefix.digester = try Self.digester(algorithm)
            } catch {
                // It could be made before. Without it the file will not be what it should.
                prefix.digester = nil
            }
            prefix.end = 0
            hashed.store(0, ordering: .relaxed)
        }
        try file.truncate(to: 0)
    }
}

// MARK: - Digests

extension PartContent {
    private func hash(_ bytes: UnsafeRawBufferPointer, _ prefix: inout Prefix) {
        prefix.digester?.update(bytes)
        prefix.end += bytes.count
        hashed.store(prefix.end, ordering: .relaxed)
    }

    /// Hashes what there is in order and was not hashed when it came, a turn at a time.
    func catchUp(on threads: DiskThreads) {
        do throws(Errno) {
            if try hash(upTo: hashed.load(ordering: .relaxed) + Self.turn) {
                return threads.start { self.catchUp(on: threads) }
            }
        } catch {
            // Whoever asks for the digest in the end will meet it too.
        }
        isCatchingUp.store(false, ordering: .relaxed)
    }

    /// Whether there is more.
    private func hash(upTo limit: Int) throws(Errno) -> Bool {
        let end = prefixEnd
        while try hashStep(upTo: min(end, limit)) {
            if isOver.load(ordering: .relaxed) { throw .cancelled }
        }
        return end > limit
    }

    private func hashStep(upTo end: Int) throws(Errno) -> Bool {
        try prefix.withLock { prefix throws(Errno) in
            guard prefix.end < end else { return false }
            let bytes = Bytes(try file.read(at: prefix.end, upTo: min(Self.step, end - prefix.end)))
            if bytes.isEmpty { throw .noSuchFile }
            bytes.withUnsafeBytes { hash($0, &prefix) }
            return true
        }
    }

    /// Of the whole, once all of it is written; nil if none was asked for. `isOver` is asked now and then whether that
    /// is still wanted.
    func digest(unless isOver: () -> Bool) throws -> ContentDigest? {
        if algorithm == nil { return nil }
        while try hash(upTo: hashed.load(ordering: .relaxed) + Self.turn) {
            if isOver() { throw Errno.cancelled }
        }
        guard let digester = prefix.withLock({ $0.digester.take() }) else { return nil }
        return try digester.finish()
    }

    /// Of all that is there, read again.
    func digest(_ algorithm: ContentDigest.Algorithm) throws -> ContentDigest {
        var digester = try Digester(algorithm)
        let isThere = try read(0..<prefixEnd) { bytes in bytes.withUnsafeBytes { digester.update($0) } }
        guard isThere else { throw Errno.noSuchFile }
        return try digester.finish()
    }
}

// MARK: - Going on

extension PartContent {
    /// Counts with these pieces from now on, which are in order, if they are what they were; false if not. `isOver` is
    /// asked now and then whether that is still wanted.
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
        book.withLock { book in
            book.noted = spans.byteCount
            book.spans = spans
        }
        return true
    }

    /// What is there, for whoever wants to go on with it. Reads it, if nobody has counted along.
    func pieces() throws(Errno) -> [ResumeData.Piece] {
        let (pieces, areCounted) = book.withLock { ($0.spans.pieces, $0.record != nil) }
        if areCounted { return pieces }
        var counted: [ResumeData.Piece] = []
        for piece in pieces {
            var checksum = Checksum()
            let isThere = try read(piece.range) { bytes in bytes.withUnsafeBytes { checksum.update($0) } }
            guard isThere else { throw .noSuchFile }
            counted.append(ResumeData.Piece(range: piece.range, checksum: checksum.value))
        }
        return counted
    }

    /// What is there, step by step; false if that is less.
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
