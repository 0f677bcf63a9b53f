internal import DunlinReactor
internal import DunlinTypes
internal import DunlinWire

/// A response body that is read from its connection on demand: nothing is read ahead, so a slow reader stalls the
/// server.
///
/// The request may still be under way. The server may be silent during that time, and the body does not end before: an
/// early success says nothing about what has not been sent.
///
/// The body owns the lease while it lasts. At a clean end the connection goes back to the pool. After an error or a
/// cancel, or when the last reference is released before the end, it is closed.
final class ConnectionBody: TransportResponse.RecyclingStream {
    /// The state for reading; the reader takes it out meanwhile.
    struct Reading: ~Copyable {
        var lease: Lease
        var reader: ResponseReader
        var body: BodyReader
        /// The bytes received; those from `offset` on have not been parsed.
        var chunk: Bytes
        var offset = 0
        let upload: Upload?
        /// The memory to receive into: that of `chunk`, reused once nobody else uses a part of it.
        var buffer: [UInt8] = []
        var canReuse: Bool
        /// Whether the peer or the request said that the connection ends with the response.
        let endsConnection: Bool
        var pace = ReadingPace()
        /// When the reader stops waiting, before any timeout.
        var limit = HTTP.Instant.never
        /// The bytes received since others last had the loop.
        var sincePause = 0

        init(
            lease: consuming Lease, reader: consuming ResponseReader, body: BodyReader, chunk: Bytes, upload: Upload?,
            canReuse: Bool, endsConnection: Bool
        ) {
            self.lease = lease
            self.reader = reader
            self.body = body
            self.chunk = chunk
            self.upload = upload
            self.canReuse = canReuse
            self.endsConnection = endsConnection
        }
    }

    let expectedLength: Int?
    let context: ExchangeContext
    private let reader: SoleReader<Reading>

    init(_ reading: consuming Reading, _ framing: BodyFraming, _ hop: HTTP.Hop) {
        if case .length(let length) = framing { expectedLength = length } else { expectedLength = nil }
        context = reading.reader.context
        reader = SoleReader(reading, after: hop)
    }

    deinit {
        context.cancellation.disarm()
    }

    var trailers: Fields { reader.trailers }
    var hop: HTTP.Hop { reader.hop }

    func next() async throws -> Bytes? {
        var nothing: [UInt8]?
        return try await next(reusing: &nothing)
    }

    func next(reusing spare: inout [UInt8]?) async throws -> Bytes? {
        try await withTaskCancellationHandler {
            switch reader.begin() {
            case .over: return nil
            case .failed(let error): throw error
            case .read(var reading):
                if let memory = spare.take() { reading.buffer = memory }
                return try await next(reading)
            }
        } onCancel: {
            context.cancel(.task)
        }
    }

    func collect(_ admit: (Int) throws -> Void) async throws -> Bytes {
        try await withTaskCancellationHandler {
            switch reader.begin() {
            case .over: return .empty
            case .failed(let error): throw error
            case .read(let reading): return try await collect(reading, admit)
            }
        } onCancel: {
            context.cancel(.task)
        }
    }

    /// Reads and discards the rest, if it is at most `limit` bytes and comes in time; otherwise closes the connection.
    /// Either way, a request that is still being sent is stopped.
    func drain(upTo limit: Int, until deadline: HTTP.Instant) async throws {
        guard try beginDraining(upTo: limit, until: deadline) else { return }
        var left = limit
        while left >= 0, let piece = try await next() { left -= piece.count }
        if left < 0 { _ = try beginDraining(upTo: 0, until: deadline) }
    }

    /// Closes the connection, because nobody reads any more; later reads get `error`. No effect on a body that is over
    /// or being read: a cancel ends that.
    func discard(_ error: any Error) {
        switch reader.giveUp(error) {
        case .over: return
        case .failed: return
        case .read(let reading):
            reading.upload?.stop()
            context.observer?.saw(.responseLeft(bodyBytes: hop.bodyBytes))
        }
    }

    /// Sets the time by which the rest must come.
    func hurry(until deadline: HTTP.Instant) throws {
        switch reader.begin() {
        case .over: return
        case .failed(let error): throw error
        case .read(let taken):
            var reading = taken
            reading.limit = min(reading.limit, deadline)
            reader.putBack(reading)
        }
    }

    /// Begins draining. Returns false if there is nothing to read, or more than allowed.
    private func beginDraining(upTo limit: Int, until deadline: HTTP.Instant) throws -> Bool {
        switch reader.begin() {
        case .over: return false
        case .failed(let error): throw error
        case .read(let taken):
            var reading = taken
            let isSending = reading.upload.map { !$0.isOver } ?? false
            if isSending || limit == 0 || (expectedLength ?? 0) > limit {
                reading.upload?.stop()
                finish(reading, hop, isClean: false, isLeft: true)
                return false
            }
            reading.limit = deadline
            reader.putBack(reading)
            return true
        }
    }

    private func next(_ taken: consuming Reading) async throws -> Bytes? {
        var reading = taken
        let upload = reading.upload
        var hop = hop
        do {
            // How many bytes of the last chunk are the message's; nil if it ends with the stream.
            var last: Int?
            receiving: while true {
                switch try step(&reading, hop) {
                case .data(let range):
                    let piece = reading.take(range, &hop)
                    tookBody(piece, hop)
                    reader.putBack(reading, after: hop)
                    return piece
                case .needMore: guard try await refill(&reading, &hop) else { break receiving }
                case .end(let consumed):
                    last = consumed
                    break receiving
                }
            }
            if let upload, try await !settle(upload, &reading, isOver: last == nil, &hop) { reading.canReuse = false }
            let isClean = if let last { reading.isClean(after: last) } else { false }
            finish(reading, hop, isClean: isClean)
            return nil
        } catch {
            throw failed(error, upload, hop)
        }
    }

    /// Collects the rest. If the length is known, bytes that have not come yet are received into their final place.
    private func collect(_ taken: consuming Reading, _ admit: (Int) throws -> Void) async throws -> Bytes {
        var reading = taken
        let upload = reading.upload
        var hop = hop
        var whole = CollectedBody(expecting: reading.body.bytesLeft)
        do {
            // How many bytes of the last chunk are the message's; nil if it ends with the stream.
            var last: Int?
            receiving: while true {
                switch try step(&reading, hop) {
                case .data(let range):
                    do {
                        try admit(whole.count + range.count)
                    } catch {
                        // It is there, and may say why the request failed.
                        whole.append(reading.chunk[range])
                        context.observer?.sees(received: reading.chunk[range], as: .body)
                        throw error
                    }
                    let piece = reading.take(range, &hop)
                    tookBody(piece, hop)
                    whole.append(piece)
                case .needMore:
                    if let left = reading.body.bytesLeft {
                        try admit(whole.count + left)
                        try await fill(&whole, upTo: left, &reading, &hop)
                    } else if try await !refill(&reading, &hop) {
                        break receiving
                    }
                case .end(let consumed):
                    last = consumed
                    break receiving
                }
            }
            if let upload, try await !settle(upload, &reading, isOver: last == nil, &hop) { reading.canReuse = false }
            let isClean = if let last { reading.isClean(after: last) } else { false }
            finish(reading, hop, isClean: isClean)
            return whole.bytes
        } catch {
            throw failed(error, upload, hop).keeping(whole.beginning)
        }
    }

    private func tookBody(_ piece: Bytes, _ hop: HTTP.Hop) {
        context.observer?.sees(received: piece, as: .body)
        context.control?.received(upTo: hop.bodyBytes)
    }

    private func step(_ reading: inout Reading, _ hop: HTTP.Hop) throws -> BodyStep {
        let chunk = reading.chunk
        do throws(WireError) {
            return try reading.body.next(in: chunk.span.bytes, from: reading.offset)
        } catch {
            throw context.invalid(error, .receive, hop)
        }
    }

    /// Reads more. Returns false at the end of the stream, if the body may end there.
    private func refill(_ reading: inout Reading, _ hop: inout HTTP.Hop) async throws -> Bool {
        reading.chunk = .empty
        reading.offset = 0
        let start = context.clock.now()
        while true {
            let (phase, since) = reading.nextWait(from: start)
            let hasRead = try await reading.reader.next(
                into: &reading.buffer, replacing: true, upTo: .max, at: &reading.pace,
                certain: reading.body.certainBytes, in: phase, since: since, before: reading.limit, &hop)
            if hasRead { break }
        }
        hop[.receive] += context.clock.now().nanoseconds - start.nanoseconds
        let count = reading.buffer.count
        // A few bytes must not keep a large buffer in memory if the reader retains them.
        reading.chunk = count * 16 < reading.buffer.capacity ? Bytes(Array(reading.buffer[...])) : Bytes(reading.buffer)
        context.observer?.sees(received: reading.chunk, as: .all)
        if reading.isLong(after: count) { try await letOthersRun(hop) }
        if reading.pace.readSize < reading.buffer.capacity / 2 { reading.buffer = [] }
        if count == 0 { try endOfStream(&reading, hop) }
        return count > 0
    }

    /// Receives at most `count` bytes of the body after those collected.
    private func fill(
        _ whole: inout CollectedBody, upTo count: Int, _ reading: inout Reading, _ hop: inout HTTP.Hop
    ) async throws {
        let start = context.clock.now()
        (reading.chunk, reading.buffer, reading.offset) = (.empty, [], 0)
        let received = try await whole.receive(upTo: count) { bytes, room in
            while true {
                let (phase, since) = reading.nextWait(from: start)
                let hasRead = try await reading.reader.next(
                    into: &bytes, replacing: false, upTo: room, at: &reading.pace, certain: count, in: phase,
                    since: since, before: reading.limit, &hop)
                if hasRead { break }
            }
        }
        hop[.receive] += context.clock.now().nanoseconds - start.nanoseconds
        if reading.isLong(after: received) { try await letOthersRun(hop) }
        hop.bodyBytes += received
        hop.decodedBytes += received
        context.control?.received(upTo: hop.bodyBytes)
        context.observer?.sees(received: whole.last(received), as: .both)
        reading.body.skip(received)
        if received == 0 { try endOfStream(&reading, hop) }
    }

    /// A server that is always ready never lets a reader on the loop wait, and would keep all others from it. Nor would
    /// a wait tell that the reader is cancelled or late.
    private func letOthersRun(_ hop: HTTP.Hop) async throws {
        await context.clock.reactor.letOthersRun()
        if context.cancellation.cause != nil { throw context.cancelled(.receive, hop) }
        guard context.clock.whole <= context.clock.now() else { return }
        throw context.timedOut(.receive, exceeding: .total, since: context.started, hop)
    }

    private func endOfStream(_ reading: inout Reading, _ hop: HTTP.Hop) throws {
        do throws(WireError) {
            try reading.body.endOfStream()
        } catch {
            throw context.invalid(error, .receive, hop)
        }
    }

    private func finish(_ taken: consuming Reading, _ hop: HTTP.Hop, isClean: Bool, isLeft: Bool = false) {
        var hop = hop
        hop.ended = context.clock.now()
        context.cancellation.disarm()
        let reading = taken
        context.observer?.saw(
            isLeft
                ? .responseLeft(bodyBytes: hop.bodyBytes)
                : .responseEnd(bodyBytes: hop.bodyBytes, trailers: reading.body.trailers))
        reader.end(after: hop, reading.body.trailers)
        if isClean { reading.lease.giveBack(at: hop.ended) }
    }

    private func failed(_ error: any Error, _ upload: Upload?, _ hop: HTTP.Hop) -> any Error {
        upload?.stop()
        let error = upload?.explain(error, hop) ?? error
        context.observer?.saw(.failed(error))
        reader.fail(error, after: hop)
        return error
    }
}

extension ConnectionBody.Reading {
    /// How many bytes are received before others have the loop.
    private static var longestReading: Int { 1 << 20 }

    /// Notes that bytes were received. Returns whether others should have the loop now.
    fileprivate mutating func isLong(after count: Int) -> Bool {
        sincePause += count
        guard sincePause >= Self.longestReading else { return false }
        sincePause = 0
        return true
    }

    /// The phase of a wait that begins at `start`, and when its limit begins. A reader that was woken asks again.
    fileprivate func nextWait(from start: HTTP.Instant) -> (HTTP.Phase, since: HTTP.Instant) {
        guard let wait = upload?.wait(from: start) else { return (.receive, start) }
        return (wait.phase, wait.since)
    }

    /// Takes a chunk of the body from what was received.
    fileprivate mutating func take(_ range: Range<Int>, _ hop: inout HTTP.Hop) -> Bytes {
        offset = range.upperBound
        hop.bodyBytes += range.count
        hop.decodedBytes += range.count
        return chunk[range]
    }

    /// Whether the connection is fit for another request, if the message ended after `consumed` bytes of the chunk.
    /// Bytes after it answer no request of ours, and a read that filled its buffer may hide some.
    fileprivate mutating func isClean(after consumed: Int) -> Bool {
        guard canReuse, consumed == chunk.count else { return false }
        guard !reader.mayHaveMore || reader.stream.isStillSilent() else { return false }
        return reader.resetLowWater(of: &pace)
    }
}
