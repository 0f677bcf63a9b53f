import Dunlin
import DunlinTesting
import Testing

/// A socket that never waits must let other requests of its loop go on.
@Suite(.inClearAndOverTLS, .timeLimit(.minutes(10)))
struct `A busy WebSocket` {
    @Test func `a peer that sends without end lets other requests go on`() async throws {
        let flood = WebSocketFrame.pong("fourteen bytes").bytes.array
        // More than is read while another request is answered, however busy the machine is.
        let size = 16 << 20
        try await Stage.with(oneLoop: true, tolerating: true) { (stage: Stage) async throws in
            let go = LoopbackServer.Gate()
            let frames = LoopbackServer.Step.send(Bytes((0..<size / flood.count).flatMap { _ in flood }))
            stage.server.respond { request in
                if request.target != "/chat" { return .response(body: "other") }
                return .webSocket(answering: request, .waitForSignal(go), frames, frames, frames, frames, .stall)
            }
            _ = try await stage.session.get("other", as: .string)
            let socket = try await stage.session.webSocket("chat")
            go.open()
            try await stage.eventually("it comes") { Self.hop(socket).bodyBytes > 0 }
            #expect(try await stage.session.get("other", as: .string).value == "other")
            #expect(Self.hop(socket).bodyBytes < 2 * size)
            await stage.session.tasks.cancelAll()
        }
    }

    @Test func `a long message that is sent lets other requests go on`() async throws {
        let total = 24 << 20
        try await Stage.with(oneLoop: true, tolerating: true) { (stage: Stage) async throws in
            // To compress takes longer than to send, so the sender never waits for the peer.
            let fields: Fields = ["Sec-WebSocket-Extensions": "permessage-deflate"]
            stage.server.respond { request in
                if request.target != "/chat" { return .response(body: "other") }
                return .webSocket(answering: request, fields: fields, .drain)
            }
            _ = try await stage.session.get("other", as: .string)
            var settings = HTTPSession.WebSocketSettings()
            settings.compression = .init(level: 9)
            let socket = try await stage.session.webSocket("chat", settings: settings)
            let before = Self.hop(socket).bytesSent
            let message = LoopbackServer.GeneratedBody.bytes(0..<total)
            let sending = Task { try await socket.send(message) }
            try await stage.eventually("it goes") { Self.hop(socket).bytesSent > before }
            #expect(try await stage.session.get("other", as: .string).value == "other")
            #expect(Self.hop(socket).bytesSent < total / 2)
            sending.cancel()
            _ = await sending.result
        }
    }

    private static func hop(_ socket: HTTPSession.WebSocket) -> HTTP.Hop { socket.metrics.hops.last ?? HTTP.Hop() }
}
