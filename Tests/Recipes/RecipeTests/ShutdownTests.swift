import Dunlin
import DunlinTesting
import ServiceLifecycle
import Testing

@testable import Gateway

extension Recipes {
    @Suite struct `A graceful shutdown` {
        @Test func `lets the server end first, whose handlers still have the client`() async throws {
            try await RunningGateway.whileRunning { gateway in
                let gate = LoopbackServer.Gate()
                gateway.backend.enqueue(
                    .response(fields: ["Content-Type": "application/json"], body: #"{"id":7,"name":"Ada"}"#)
                        .waiting(for: gate))
                async let user = gateway.caller.get("users/7", as: User.self)
                _ = try await gateway.backend.nextRequest()
                await gateway.group.triggerGracefulShutdown()
                try await eventually("the server accepts no more connections") {
                    let other = try HTTPSession(baseURL: "http://127.0.0.1:\(gateway.port)")
                    let error = await #expect(throws: NetworkError.self) {
                        _ = try await other.get("users/8", timeout: .milliseconds(200))
                    }
                    await other.shutdown()
                    return error?.phase == .connect
                }
                #expect(!gateway.client.isShutDown)
                gate.open()
                #expect(try await user.name == "Ada")
                try await eventually("the client is shut down") { gateway.client.isShutDown }
            }
        }

        @Test func `lets a body that is being passed on come to its end`() async throws {
            try await RunningGateway.whileRunning { gateway in
                let gate = LoopbackServer.Gate()
                gateway.backend.enqueue([
                    .message(.init(200, fields: ["Content-Length": "8"])), .send("half"), .waitForSignal(gate),
                    .send("half"),
                ])
                let response = try await gateway.caller.stream("files/slow")
                await gateway.group.triggerGracefulShutdown()
                var text = ""
                for try await piece in response.body {
                    text += String(decoding: piece, as: UTF8.self)
                    #expect(!gateway.client.isShutDown)
                    gate.open()
                }
                #expect(text == "halfhalf")
                try await eventually("the client is shut down") { gateway.client.isShutDown }
            }
        }
    }
}
