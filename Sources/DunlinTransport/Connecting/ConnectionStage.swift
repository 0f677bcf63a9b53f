internal import DunlinReactor
internal import DunlinTypes

/// A step between connecting and TLS, over the plain socket: what a proxy must be told before it forwards to the
/// origin.
///
/// It knows the bytes that it sends and receives. It must not know how the socket was connected, nor what is sent over
/// it later. A stage reads no further than to the end of the answer it waits for: further bytes that it read would be
/// lost.
protocol ConnectionStage: Sendable {
    /// Returns when the next stage may begin. Any error fails the request and closes the socket.
    func pass(_ line: StageSocket) async throws
}

/// The plain socket of a connection that is being opened, as a stage sees it: within a `connect` limit for all stages
/// together, and cancelled with the request.
struct StageSocket {
    let context: ExchangeContext
    private let channel: Channel
    private let start: MonotonicTime
    private let hop: HTTP.Hop

    init(_ line: DialedChannel, _ context: ExchangeContext, since start: MonotonicTime, _ hop: HTTP.Hop) throws {
        guard context.cancellation.arm(line.channel, turn: line.turn) else {
            throw context.cancelled(.connect, hop)
        }
        self.context = context
        self.start = start
        self.hop = hop
        channel = line.channel
    }

    func write(_ bytes: Bytes) async throws {
        var offset = 0
        while offset < bytes.count {
            if let taken = try write(bytes, from: offset) {
                offset += taken
            } else {
                try check(await channel.waitWritable(until: deadline))
            }
        }
    }

    /// The bytes that have come, once there are any; empty at the end of the stream.
    func read(upTo capacity: Int) async throws -> [UInt8] {
        while true {
            // Reads before it waits: the edge may have come with what was read before.
            if let bytes = try readNow(upTo: capacity) { return bytes }
            try check(await channel.waitReadable(until: deadline))
        }
    }

    private var deadline: MonotonicTime { context.clock.deadline(for: .connect, from: start) }

    private func write(_ bytes: Bytes, from offset: Int) throws -> Int? {
        do throws(StreamError) {
            return try ByteStream.plain(channel).write(bytes, from: offset, more: false)
        } catch {
            throw context.broken(error, .connect, hop)
        }
    }

    private func readNow(upTo capacity: Int) throws -> [UInt8]? {
        do throws(Errno) {
            return try channel.read(upTo: capacity)
        } catch {
            throw context.broken(.system(error), .connect, hop)
        }
    }

    private func check(_ wake: Wake) throws {
        guard wake == .ready else { throw context.failure(wake, in: .connect, since: start, hop) }
    }
}
