import BenchmarkLoad
import Dunlin
import Synchronization

extension Load {
    /// Echoes over sockets that have been opened before, one for each caller.
    func measureEchoes(_ session: HTTPSession, _ target: HTTP.Target) async throws {
        var sockets: [HTTPSession.WebSocket] = []
        for _ in 0..<concurrency { sockets.append(try await session.webSocket(target)) }
        try await measure(Echo(sockets: sockets, message: Bytes([UInt8](repeating: 120, count: length))))
        for socket in sockets { try await socket.close() }
    }

    /// Sockets that are kept.
    func measureOpening(_ session: HTTPSession, _ target: HTTP.Target) async throws {
        let message = Bytes([UInt8](repeating: 120, count: length))
        try await measure(Open(session: session, target: target, message: message, room: requests))
    }
}

extension HTTPSession.WebSocket {
    fileprivate func echo(_ message: Bytes) async throws -> Reply {
        try await send(message)
        var messages = messages
        guard case .binary(let answer) = try await messages.next() else { return Reply(status: 0, length: 0) }
        return Reply(status: 200, length: answer.count)
    }
}

private struct Echo: Sender {
    let sockets: [HTTPSession.WebSocket]
    let message: Bytes
    var number = 0

    func caller(_ number: Int) -> Echo {
        var own = self
        own.number = number
        return own
    }

    func send() async throws -> Reply { try await sockets[number].echo(message) }
}

private final class Open: Sender {
    private let session: HTTPSession
    private let target: HTTP.Target
    private let message: Bytes
    private let sockets: Mutex<[HTTPSession.WebSocket]>

    init(session: HTTPSession, target: HTTP.Target, message: Bytes, room: Int) {
        (self.session, self.target, self.message) = (session, target, message)
        var none: [HTTPSession.WebSocket] = []
        none.reserveCapacity(room)
        sockets = Mutex(none)
    }

    func send() async throws -> Reply {
        let socket = try await session.webSocket(target)
        _ = try await socket.echo(message)
        let reply = try await socket.echo(message)
        sockets.withLock { $0.append(socket) }
        return reply
    }
}
