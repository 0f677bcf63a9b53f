internal import DunlinReactor
internal import DunlinTypes

/// How a response ends whose request was still on its way when it came.
///
/// Rules:
/// 1. An answer that ended the sending stands by itself. So does its end, but for a body that ends with the connection:
///    that must not have been broken.
/// 2. A success waits for the request's end. It says nothing of what had not been sent when the connection ended: then
///    there is an error, which carries the response.
/// 3. The peer is watched meanwhile. When it goes there is nothing to wait for, whatever the body's producer is about.
/// 4. What the kernel took is not all with the peer. One that ends its connection with such an answer is waited for,
///    `patience` at most: a reset says that something was not taken.
extension ConnectionBody {
    private static var patience: Int64 { 1_000_000_000 }
    /// What is read and thrown away of a peer that says more instead of ending the connection.
    private static var looks: Int { 16 }

    /// Whether the peer took all of the request. `isOver`: the connection has ended, and the response with it.
    func settle(
        _ upload: Upload, _ reading: inout Reading, isOver: Bool = false, _ hop: inout HTTP.Hop
    ) async throws -> Bool {
        if upload.isStopped, !isOver {
            hop.bytesSent = upload.bytesSent
            return false
        }
        if isOver { upload.stop() } else { try await watch(upload, &reading, hop) }
        if !upload.isOver { try await upload.waitForEnd(hop) }
        hop.bytesSent = upload.bytesSent
        if case .failed(let error) = upload.outcome { throw error }
        if isOver {
            if upload.wasReset { throw context.closed("the response ended too soon", .receive, hop) }
        } else if upload.isComplete, upload.isAnsweredEarly, reading.endsConnection,
            try await isReset(&reading, hop)
        {
            upload.turnOutCut()
        }
        if upload.isComplete { return true }
        guard upload.wasRefused else { throw upload.cut(hop) }
        return false
    }

    /// Waits until the request is sent, or the peer gone, or says something more: then nobody looks any further.
    private func watch(_ upload: Upload, _ reading: inout Reading, _ hop: HTTP.Hop) async throws {
        let start = context.clock.now()
        while upload.markAwaited() {
            if !reading.reader.mayHaveMore {
                switch await reading.lease.connection.channel.waitReadable(until: deadline(from: start)) {
                case .ready: break
                case .cancelled: throw context.cancelled(.send, hop)
                case .timedOut where upload.markAwaited(): throw context.timedOut(.total, since: start, hop)
                case .timedOut: return
                case .closed, .busy: return upload.stop()
                }
            }
            switch reading.reader.look() {
            case .nothing: continue
            case .bytes:
                reading.canReuse = false
                return
            case .end: return upload.stop()
            }
        }
    }

    private func deadline(from start: MonotonicTime) -> MonotonicTime {
        context.clock.deadline(for: .total, from: start)
    }

    /// Whether the peer breaks the connection that it said it would end.
    private func isReset(_ reading: inout Reading, _ hop: HTTP.Hop) async throws -> Bool {
        let channel = reading.lease.connection.channel
        let start = context.clock.now()
        let limit = min(start.advanced(by: Self.patience), deadline(from: start))
        channel.limitReading(until: .never)
        for _ in 0..<Self.looks {
            do throws(Errno) {
                // Below TLS: what it has to say is said.
                if let bytes = try channel.read(upTo: 4096) {
                    if bytes.isEmpty { return false }
                    continue
                }
            } catch {
                return true
            }
            switch await channel.waitReadable(until: limit) {
            case .ready: break
            case .cancelled: throw context.cancelled(.receive, hop)
            case .timedOut, .closed, .busy: return false
            }
        }
        return false
    }
}
