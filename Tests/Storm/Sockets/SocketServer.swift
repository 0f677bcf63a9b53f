import Dunlin
import DunlinTesting
import Synchronization

/// A loopback server whose WebSockets and streams of events misbehave by plan. Now and then another takes its place.
final class SocketServer: Sendable {
    private struct Current {
        var server: LoopbackServer
        /// How often it has been replaced.
        var generation = 0
    }

    private let seed: UInt64
    private let masks: Masks?
    private let tally: Tally
    private let current: Mutex<Current>

    init(_ tally: Tally, _ masks: Masks?) throws {
        seed = tally.seed
        self.masks = masks
        self.tally = tally
        current = Mutex(Current(server: try Self.server(tally.seed, masks)))
    }

    /// `ws` and `wss` are for sockets, `http` and `https` for streams.
    func url(_ scheme: String, _ host: Masks.Name, _ path: String) -> HTTP.Target {
        let server = current.withLock { $0.server }
        let address = masks == nil ? "127.0.0.1" : host.rawValue
        return .url("\(scheme)\(masks == nil ? "" : "s")://\(address):\(server.port)/\(path)")
    }

    var generation: Int { current.withLock { $0.generation } }

    /// Blocks until every thread of the old server has gone.
    func replaceServer() throws {
        let next = try Self.server(seed, masks)
        let old = current.withLock { current in
            defer { (current.server, current.generation) = (next, current.generation + 1) }
            return current.server
        }
        end(old)
    }

    func stop() { end(current.withLock { $0.server }) }

    private func end(_ server: LoopbackServer) {
        server.stop()
        for failure in server.failures where failure.kind == .malformed || failure.kind == .system {
            tally.violation("the server complains: \(failure)")
        }
    }

    private static func server(_ seed: UInt64, _ masks: Masks?) throws -> LoopbackServer {
        var configuration = LoopbackServer.Configuration()
        configuration.recordsRequests = false
        let server = try LoopbackServer(tls: masks?.tls, configuration: configuration)
        let arrivals = FaultyServer.plan(seed)
        server.onConnect { connection in
            let fault = arrivals.fault(for: connection, of: "connect")
            return masks == nil
                ? FaultyServer.arrival(fault, connection) : FaultyServer.secureArrival(fault, connection)
        }
        let streams = StreamReplies(seed)
        server.respond { request in
            let parts = request.target.split(separator: "/")
            guard parts.count == 2, let number = Int(parts[1]) else { return .response(.notFound) }
            if parts[0] == "stream" { return streams.reply(number, after: request.fields["Last-Event-ID"]) }
            return PlannedSocket(number, seed: seed, isSecure: masks != nil).reply(to: request)
        }
        return server
    }
}

extension PlannedSocket {
    fileprivate func reply(to request: LoopbackServer.RecordedRequest) -> LoopbackServer.Reply {
        var fields = Fields()
        if request.fields.contains("Sec-WebSocket-Extensions") {
            fields["Sec-WebSocket-Extensions"] = "permessage-deflate"
        }
        if case .badAcceptance = trouble { fields["Sec-WebSocket-Accept"] = "c2hvcnQgb2YgdHdlbnR5IGI=" }
        let opening = LoopbackServer.Reply.webSocket(answering: request, fields: fields)
        var reply = LoopbackServer.Reply(opening.steps.dropLast() + messages + ending)
        if case .fault(let fault) = trouble { reply = reply.suffering(fault) }
        return reply
    }

    private var messages: [LoopbackServer.Step] {
        var steps: [LoopbackServer.Step] = []
        for index in 0..<told {
            if case .wrong(let frame, let count) = trouble, count == index {
                return steps + [.send(Bytes(frame.bytes))]
            }
            steps += Self.frames(toldMessage(index), inTwo: index % 3 == 0)
            if case .pings(let count) = trouble, index % 4 == 0 {
                steps.append(
                    .send(Bytes((0..<count).flatMap { _ in WebSocketFrame.ping("are you there").bytes.array })))
            }
        }
        if case .wrong(let frame, _) = trouble { steps.append(.send(Bytes(frame.bytes))) }
        return steps
    }

    private static func frames(_ message: HTTP.WebSocketMessage, inTwo: Bool) -> [LoopbackServer.Step] {
        let kind: WebSocketFrame.Kind = message.kind == .text ? .text : .binary
        let bytes = message.bytes
        guard inTwo else { return [.frame(WebSocketFrame(kind, bytes))] }
        // In the middle of a character too.
        let middle = bytes.count / 2
        return [
            .frame(WebSocketFrame(kind, bytes[0..<middle], isFinal: false)), .frame(.ping()),
            .frame(WebSocketFrame(.continuation, bytes[middle..<bytes.count])),
        ]
    }

    private var ending: [LoopbackServer.Step] {
        if case .wrong = trouble { return [.drain, .close] }
        switch end {
        case .client: return [.echoMessages, .close]
        // What the client still says is read, so that the close is no reset.
        case .server(let code): return [.frame(.close(code, reason: "over")), .halfClose, .drain, .close]
        }
    }
}
