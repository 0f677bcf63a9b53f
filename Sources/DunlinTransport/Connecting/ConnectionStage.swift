internal import DunlinReactor
internal import DunlinTypes
internal import DunlinWire

/// A step between connecting and the origin's TLS, in which a proxy is told where to forward.
///
/// It knows the bytes that it sends and receives. It must not know how the socket was connected, nor what is sent over
/// it later. It must hand back what it has read beyond its answer, which is the origin's.
protocol ConnectionStage: Sendable {
    /// Passes the stage. Any error fails the request and closes the socket.
    mutating func pass(_ socket: inout StageSocket) async throws -> StageOutcome
}

enum StageOutcome {
    /// The next stage may begin.
    case passed
    /// This socket cannot be used any more; the stage continues on another.
    case dialAgain
}

/// A connection that is being opened, as a stage sees it: within one `tunnel` limit for all stages, and cancelled with
/// the request.
struct StageSocket {
    let context: ExchangeContext
    /// Bytes that were read and handed back, for the next reader.
    private(set) var ahead: [UInt8] = []
    private let stream: ByteStream
    private let start: HTTP.Instant
    private let hop: HTTP.Hop

    init(_ connection: OpeningConnection, _ context: ExchangeContext, since start: HTTP.Instant, _ hop: HTTP.Hop) throws
    {
        guard context.cancellation.arm(connection.stream.channel, turn: connection.turn) else {
            throw context.cancelled(.tunnel, hop)
        }
        self.context = context
        self.start = start
        self.hop = hop
        stream = connection.stream
        ahead = connection.ahead
    }

    func write(_ bytes: Bytes) async throws {
        var offset = 0
        while offset < bytes.count {
            if let taken = try write(bytes, from: offset) {
                offset += taken
            } else {
                try check(await stream.channel.waitWritable(until: deadline))
            }
        }
        while try !isFlushed() { try check(await stream.channel.waitWritable(until: deadline)) }
    }

    /// The bytes that have come, once there are any; empty at the end of the stream.
    mutating func read(upTo capacity: Int) async throws -> [UInt8] {
        if !ahead.isEmpty {
            let bytes = Array(ahead.prefix(capacity))
            ahead.removeFirst(bytes.count)
            return bytes
        }
        while true {
            // Tries before it waits: the edge may have come with what was read before.
            if let bytes = try readNow(upTo: capacity) { return bytes }
            try check(await stream.channel.waitReadable(until: deadline))
        }
    }

    /// Hands back the bytes that were read last.
    mutating func unread(_ bytes: Bytes) {
        ahead = Array(bytes) + ahead
    }

    /// The error for a proxy that does not do its job.
    func failure(
        _ code: NetworkError.Code, _ reason: String, cause: (any Error)? = nil, response: ResponseHead? = nil,
        body: Bytes? = nil
    ) -> NetworkError {
        var error = context.error(code, reason, in: .tunnel, hop, cause: cause)
        error.response = response
        error.body = body
        return error
    }

    private var deadline: HTTP.Instant { context.clock.deadline(for: .tunnel, from: start) }

    private func write(_ bytes: Bytes, from offset: Int) throws -> Int? {
        do throws(StreamError) {
            return try stream.write(bytes, from: offset, more: false)
        } catch {
            throw broken(error)
        }
    }

    private func isFlushed() throws -> Bool {
        do throws(StreamError) {
            return try stream.flush()
        } catch {
            throw broken(error)
        }
    }

    private func readNow(upTo capacity: Int) throws -> [UInt8]? {
        var bytes: [UInt8] = []
        do throws(StreamError) {
            return try stream.read(into: &bytes, upTo: capacity) == .none ? nil : bytes
        } catch {
            throw broken(error)
        }
    }

    private func broken(_ error: StreamError) -> any Error {
        guard context.connectionTerms?.proxy != nil else { return context.broken(error, .tunnel, hop) }
        return failure(.proxyFailed, "the connection to the proxy failed", cause: error.cause)
    }

    private func check(_ wake: Wake) throws {
        guard wake == .ready else { throw context.failure(wake, in: .tunnel, since: start, hop) }
    }
}

// MARK: - Bodies

extension StageSocket {
    /// The body of an answer, up to a limit, and whether that is all, with nothing after it. `rest` came with the head.
    mutating func body(
        _ rest: Bytes, _ framing: BodyFraming, upTo limit: Int
    ) async throws -> (bytes: [UInt8], isWhole: Bool) {
        var reader = BodyReader(framing, limits: context.terms.limits)
        var (bytes, chunk, offset) = ([UInt8](), rest, 0)
        do {
            while true {
                switch try reader.next(in: chunk.span.bytes, from: offset) {
                case .data(let range):
                    bytes.append(contentsOf: chunk[range])
                    offset = range.upperBound
                    if bytes.count > limit { return (Array(bytes.prefix(limit)), false) }
                case .end(let end): return (bytes, end == chunk.count)
                case .needMore:
                    let more = try await read(upTo: 4096)
                    if more.isEmpty { return (bytes, false) }
                    (chunk, offset) = (Bytes(more), 0)
                }
            }
        } catch is WireError {
            // The end is unknown; the body is what came before.
            return (bytes, false)
        }
    }
}
