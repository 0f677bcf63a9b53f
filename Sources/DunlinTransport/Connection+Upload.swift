internal import DunlinReactor
internal import DunlinTypes
internal import DunlinWire

/// A request body that does not fit one write goes out while the response is awaited, because a server may answer
/// before it has read everything.
///
/// A final answer that is no success ends the sending: the server has decided, and what is left would only be thrown
/// away (RFC 9112 §9.6). After any other answer the request is still sent to its end.
extension Connection {
    static func sendWhileReading(
        _ message: borrowing Message, _ writer: RequestWriter, _ reader: inout ResponseReader,
        _ connection: Connection, _ start: Int64, _ attempt: inout Attempt
    ) async throws -> Received {
        let context = writer.context
        let upload = Upload(message, writer)
        return try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask(executorPreference: upload.runsForeignCode ? globalConcurrentExecutor : nil) {
                await upload.run()
            }
            do {
                var received = try await readHead(&reader, connection, nil, &attempt)
                writer.channel.limitReading(until: .never)
                if !received.parsed.head.status.isSuccess {
                    writer.channel.stopWriting()
                    group.cancelAll()
                }
                try await group.waitForAll()
                attempt.bytesSent = upload.bytesSent
                attempt[.send] = max(0, context.clock.now().nanoseconds - start - attempt[.firstByte])
                if case .complete = upload.outcome {} else { received.requestWasCut = true }
                return received
            } catch {
                writer.channel.stopWriting()
                group.cancelAll()
                throw upload.explain(error)
            }
        }
    }
}
