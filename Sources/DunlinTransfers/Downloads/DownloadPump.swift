internal import DunlinReactor
internal import DunlinTransport

/// Moves a body from its stream to a writer, as fast as both allow.
struct DownloadPump: Sendable {
    let writer: DownloadWriter
    let options: HTTPSession.DownloadOptions
    let sending: Sending
    let head: ResponseHead
    /// Cancels every wait.
    let cancellation: Cancellation
    /// The offset in the file at which the body must end; nil if it is unknown.
    let end: Int?
    /// Decides which bytes count; nil if all do.
    let claim: Claim?

    /// Takes the number of further bytes. Returns how many of them are skipped, how many count after those, and whether
    /// no later ones do. It is called again for the bytes that follow.
    typealias Claim = @Sendable (Int) -> (skipped: Int, count: Int, isEnd: Bool)

    /// A body that continued beyond its end. A server that announces one length and sends another may have sent
    /// anything, so no byte of that body counts.
    struct Overrun: Error {
        let error: any Error
    }

    init(
        writer: DownloadWriter, options: HTTPSession.DownloadOptions, sending: Sending, head: ResponseHead,
        cancellation: Cancellation? = nil, end: Int?, claim: Claim? = nil
    ) {
        self.writer = writer
        self.options = options
        self.sending = sending
        self.head = head
        self.cancellation = cancellation ?? sending.delegate.cancellation
        self.end = end
        self.claim = claim
    }

    /// Returns once all bytes that count are written; false if more would have counted. Throws `Overrun` before it
    /// writes a byte beyond the end.
    @discardableResult
    func run(_ body: TransportResponse.Body) async throws -> Bool {
        var isEnd = claim == nil
        switch body {
        case .bytes(let bytes):
            var position = Position(writer.position)
            isEnd = try await take(bytes, &position).isLast || isEnd
        case .stream(let stream): isEnd = try await pump(stream) || isEnd
        }
        try await flush()
        return isEnd
    }

    /// Returns once everything is written.
    func flush() async throws {
        try await wait { writer throws(Errno) in
            try await writer.flush(until: sending.request.deadline, cancellation)
        }
    }

    /// The offsets in the file of the next byte of the body, and of the end of the last one that counted.
    private struct Position {
        var seen: Int
        var counted: Int

        init(_ start: Int) { (seen, counted) = (start, start) }
    }

    /// Writes the bytes of a piece that count. Returns whether no later ones do, and memory to receive into, if there
    /// is any.
    private func take(_ whole: Bytes, _ position: inout Position) async throws -> (isLast: Bool, spare: [UInt8]?) {
        try checkEnd(whole.count, after: position.seen)
        guard let claim else {
            position.seen += whole.count
            try check(position.seen)
            return (false, try await put(whole))
        }
        var (rest, spare) = (whole, [UInt8]?.none)
        defer { position.seen += rest.count }
        while !rest.isEmpty {
            let (skipped, count, isEnd) = claim(rest.count)
            let start = position.seen + skipped
            if count > 0 {
                try check(start + count)
                if start != position.counted { try await move(to: start) }
                position.counted = start + count
                spare = try await put(count == whole.count ? whole : rest[skipped..<skipped + count])
            }
            position.seen = start + count
            rest = rest[(skipped + count)..<rest.count]
            if isEnd { return (true, spare) }
        }
        return (false, spare)
    }

    /// Writes what has come, and continues at `start`.
    private func move(to start: Int) async throws {
        try await flush()
        writer.move(to: start)
    }

    /// Moves an arriving body. Returns whether it stopped before the body's end.
    private func pump(_ arriving: any TransportResponse.BodyStream) async throws -> Bool {
        let stream = bounded(arriving, until: sending.request.deadline)
        let recycling = stream as? any TransportResponse.RecyclingStream
        func next(_ spare: inout [UInt8]?) async throws -> Bytes? {
            if let recycling { try await recycling.next(reusing: &spare) } else { try await stream.next() }
        }
        var spare: [UInt8]?
        var position = Position(writer.position)
        do {
            while let whole = try await next(&spare) {
                let (isLast, memory) = try await take(whole, &position)
                if let memory { spare = memory }
                if isLast {
                    if position.seen == end { try await expectEnd(of: arriving) }
                    return true
                }
            }
            return false
        } catch var error as NetworkError where error.response == nil {
            error.response = head
            throw error
        }
    }

    /// Writes a chunk. Returns memory to receive into, if there is any.
    @discardableResult
    private func put(_ piece: Bytes) async throws -> [UInt8]? {
        let (isFull, spare): (Bool, [UInt8]?)
        do throws(Errno) {
            (isFull, spare) = try writer.put(piece)
        } catch {
            throw failure(error)
        }
        if isFull {
            try await wait { writer throws(Errno) in
                try await writer.waitForRoom(until: sending.request.deadline, cancellation)
            }
        }
        return spare
    }

    private func wait(
        _ wait: (DownloadWriter) async throws(Errno) -> DownloadWriter.Waiter.Outcome
    ) async throws {
        do throws(Errno) {
            if case .value = try await wait(writer) { return }
        } catch {
            throw failure(error)
        }
        if cancellation.cause != nil {
            throw cancellation.failure(phase: .receive, limit: sending.request.timeouts.total, response: head)
        }
        throw NetworkError(
            .timedOut, "timed out writing the body to disk", phase: .receive, requestMayHaveBeenSent: true,
            exceeding: .total, limit: sending.request.timeouts.total, response: head)
    }

    private func failure(_ error: Errno) -> NetworkError {
        HTTPSession.FileFailure(writer.file.path, error).error(.fileNotWritten, "the file cannot be written", head)
    }

    private func checkEnd(_ count: Int, after seen: Int) throws {
        guard let end, count > end - seen else { return }
        throw Overrun(
            error: NetworkError(
                .invalidResponse, "the server sent more of the file than it announced", phase: .receive,
                requestMayHaveBeenSent: true, response: head))
    }

    /// Wraps a body of a custom transport with the call's cancellation and a time limit.
    private func bounded(_ arriving: any TransportResponse.BodyStream, until end: HTTP.Instant)
        -> any TransportResponse.BodyStream
    {
        guard sending.callTransport.sockets == nil else { return arriving }
        return CancellableBody(
            arriving, sending.callTransport, cancellation, on: sending.loop, until: end,
            limit: sending.request.timeouts.total)
    }

    /// The longest wait for a body's end after all its bytes have come.
    private static let longestWait = Duration.seconds(1)

    /// Waits for the body's end after all bytes that count have come. The file does not need that end, so the wait is
    /// short.
    private func expectEnd(of arriving: any TransportResponse.BodyStream) async throws {
        let limit = min(
            sending.request.deadline, sending.loop.now().advanced(by: Self.longestWait.clampedNanoseconds))
        let stream = bounded(arriving, until: limit)
        do {
            try sending.callTransport.hurry(stream, until: limit)
            while let more = try await stream.next() { try checkEnd(more.count, after: end ?? 0) }
        } catch let overrun as Overrun {
            throw overrun
        } catch {}
    }

    private func check(_ count: Int) throws {
        guard let limit = options.bodyLimit, count > limit else { return }
        throw NetworkError(
            .limitExceeded, "the body has more than \(limit) bytes, the download's `bodyLimit`", phase: .receive,
            requestMayHaveBeenSent: true, response: head)
    }
}

/// The beginning of a refused body, for its error.
enum BodyBeginning {
    /// Adds the first `kept` bytes of the body to the error. An error while reading them is ignored, since it says less
    /// than why the body was refused.
    static func add(to error: NetworkError, _ body: TransportResponse.Body, upTo kept: Int) async -> NetworkError {
        var error = error
        switch body {
        case .bytes(let bytes): error.body = bytes.beginning(upTo: kept)
        case .stream(let stream):
            var beginning: [UInt8] = []
            do {
                while beginning.count < kept, let piece = try await stream.next() {
                    beginning += piece.prefix(kept - beginning.count)
                }
            } catch {}
            error.body = Bytes(beginning)
        }
        return error
    }
}
