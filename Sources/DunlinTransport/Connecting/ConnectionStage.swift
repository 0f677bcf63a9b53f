internal import DunlinReactor
internal import DunlinTypes

/// A step between connecting and TLS, over the plain socket: what a proxy is told before it is a way to the origin.
///
/// Knows: the bytes it says and hears. Must not know: how the socket was connected, and what is said over it later. A
/// stage reads no further than to the end of the answer it waits for: what it took of the bytes behind is lost.
protocol ConnectionStage: Sendable {
    /// Returns when what follows may be said. Whatever is thrown fails the request and closes the socket.
    func pass(_ line: StageSocket) async throws
}

/// The plain socket of a connection that is being opened, as a stage sees it: within a limit of `connect`
/// of their own, all stages together, and under the request's cancel switch.
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

    /// What has come, once something has; nothing at the end of the stream.
    func read(upTo capacity: Int) async throws -> [UInt8] {
        while true {
            // Tries first: the edge may have come with what was read before.
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
