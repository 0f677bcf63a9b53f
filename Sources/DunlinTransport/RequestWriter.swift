internal import DunlinReactor
internal import DunlinTypes
internal import DunlinWire

/// Writes to a leased connection: tries at once, waits only when the kernel takes no more.
struct RequestWriter: Sendable {
    let context: ExchangeContext
    let channel: Channel

    /// Hands over what the kernel takes at once; how much that was.
    @inline(never)
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
                try await waitWritable(attempt)
            }
        }
    }

    /// Hands on what the kernel takes of the file's bytes from `offset` on, at least one of them.
    func send(_ file: OpenFile, from offset: Int, upTo end: Int, _ attempt: inout Attempt) async throws -> Int {
        while true {
            if let taken = try trySend(file, from: offset, count: min(end - offset, Self.fileRun), attempt) {
                guard taken > 0 else {
                    let reason = "the request body's file has become shorter while it was sent"
                    throw context.error(.bodyLengthMismatch, reason, .send, attempt)
                }
                attempt.bytesSent += taken
                return taken
            }
            try await waitWritable(attempt)
        }
    }

    /// What the kernel may move from a file to a peer who keeps up before the limits are looked at again.
    private static let fileRun = 4 << 20

    @inline(__always)
    private func waitWritable(_ attempt: Attempt) async throws {
        let start = context.clock.now()
        let wake = await channel.waitWritable(until: context.clock.deadline(for: .send, from: start))
        guard wake == .ready else { throw context.failure(wake, in: .send, since: start, attempt) }
    }

    private func trySend(_ file: OpenFile, from offset: Int, count: Int, _ attempt: Attempt) throws -> Int? {
        do throws(Errno) {
            return try channel.sendFile(file, from: offset, count: count)
        } catch {
            guard error.isFileFault else { throw context.closed("the connection failed", .send, attempt, error) }
            let reason = "the file of the request's body cannot be read"
            throw context.error(.fileUnreadable, reason, .send, attempt, error)
        }
    }

    @inline(never)
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
