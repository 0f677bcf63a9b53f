internal import DunlinReactor
internal import DunlinTypes
internal import DunlinWire

/// Writes to a leased connection: tries at once, waits only when the kernel takes no more.
struct RequestWriter: Sendable {
    let context: ExchangeContext
    let channel: Channel

    /// Hands over what the kernel takes at once; how much that was.
    func writeNow(_ bytes: Bytes, _ attempt: inout Attempt) throws -> Int {
        let taken = try tryWrite(bytes, from: 0, attempt) ?? 0
        attempt.bytesSent += taken
        return taken
    }

    /// Hands all the bytes from `start` on to the kernel.
    func write(_ bytes: Bytes, from start: Int = 0, _ attempt: inout Attempt) async throws {
        var offset = start
        while offset < bytes.count {
            let taken = try tryWrite(bytes, from: offset, attempt)
            if let taken {
                offset += taken
                attempt.bytesSent += taken
            } else {
                let start = context.clock.now()
                let wake = await channel.waitWritable(until: context.clock.deadline(for: .send, from: start))
                guard wake == .ready else { throw context.failure(wake, in: .send, since: start, attempt) }
            }
        }
    }

    private func tryWrite(_ bytes: Bytes, from offset: Int, _ attempt: Attempt) throws -> Int? {
        do throws(Errno) {
            return try bytes.withUnsafeBytes { buffer throws(Errno) in
                try channel.write(UnsafeRawBufferPointer(rebasing: buffer[offset...]))
            }
        } catch {
            throw context.closed("the connection failed", .send, attempt, error)
        }
    }
}
