internal import DunlinReactor
internal import DunlinTypes

/// The end of a response that came while its request was still being sent.
///
/// Rules:
/// 1. A response that ended the sending is complete by itself, but if its body ends with the connection, the connection
///    must not have been broken.
/// 2. A successful response waits for the end of its request. If the connection ends before the request was sent, that
///    is an error, which carries the response.
/// 3. Meanwhile the peer is observed. When it is gone, there is nothing to wait for, whatever the body's producer does.
/// 4. Bytes that the kernel took may not have reached the peer. If the peer ends its connection with such a response,
///    the end is awaited for `longestWait` at most: a reset says that something was not taken.
extension ConnectionBody {
    private static var longestWait: Int64 { 1_000_000_000 }
    /// How many reads are made and discarded if a peer sends more instead of ending the connection.
    private static var looks: Int { 16 }

    /// Ends the response. Returns whether the connection may serve another request, because the peer took all of this
    /// one. `isOver`: the connection has ended, and the response with it.
    func settle(
        _ upload: Upload, _ reading: inout Reading, isOver: Bool = false, _ hop: inout HTTP.Hop
    ) async throws -> Bool {
        if upload.isStopped, !isOver {
            upload.noteSent(in: &hop)
            return false
        }
        if isOver { upload.stop() } else { try await awaitUpload(upload, &reading, hop) }
        if !upload.isOver { try await upload.waitForEnd(hop) }
        upload.noteSent(in: &hop)
        if case .failed(let error) = upload.outcome { throw error }
        if isOver {
            if upload.wasReset { throw context.closed("the response ended too soon", .receive, hop) }
        } else if upload.isComplete, upload.isAnsweredEarly, reading.endsConnection,
            try await isReset(&reading, hop)
        {
            upload.noteCut()
        }
        if upload.isComplete { return upload.mayReuse }
        guard upload.wasRefused else { throw upload.cut(hop) }
        return false
    }

    /// Waits until the request is sent, the peer is gone, or it sends something more; after that nobody looks further.
    private func awaitUpload(_ upload: Upload, _ reading: inout Reading, _ hop: HTTP.Hop) async throws {
        let start = context.clock.now()
        while upload.awaitEnd() {
            if !reading.reader.mayHaveMore {
                switch await reading.lease.connection.channel.waitReadable(until: context.clock.whole) {
                case .ready: break
                case .woken: continue
                case .cancelled: throw context.cancelled(.send, hop)
                case .timedOut where upload.awaitEnd():
                    throw context.timedOut(.send, exceeding: .total, since: start, hop)
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

    /// Whether the peer resets the connection that it said it would end.
    private func isReset(_ reading: inout Reading, _ hop: HTTP.Hop) async throws -> Bool {
        let channel = reading.lease.connection.channel
        let limit = min(context.clock.now().advanced(by: Self.longestWait), context.clock.whole)
        for _ in 0..<Self.looks {
            do throws(Errno) {
                // Read below TLS: all messages of TLS have come.
                if let bytes = try channel.read(upTo: 4096) {
                    if bytes.isEmpty { return false }
                    continue
                }
            } catch {
                return true
            }
            switch await channel.waitReadable(until: limit) {
            case .ready, .woken: break
            case .cancelled: throw context.cancelled(.receive, hop)
            case .timedOut, .closed, .busy: return false
            }
        }
        return false
    }
}
