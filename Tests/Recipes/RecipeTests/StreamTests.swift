import Dunlin
import DunlinTesting
import Testing

@testable import Gateway

extension Recipes {
    /// A body passes through the gateway in pieces. All four sides are in this process: caller, gateway, backend, test.
    @Suite struct `A long body` {
        static let length = 100 << 20
        /// More than all buffers need, and far less than the body.
        static let allowed = 32 << 20

        private var unkept: LoopbackServer.Configuration {
            var configuration = LoopbackServer.Configuration()
            configuration.keptBodyLimit = 0
            return configuration
        }

        /// The number once it has not changed for half a second.
        private func settled(_ number: () -> Int) async throws -> Int {
            var (last, looks) = (-1, 0)
            try await eventually("the number stays the same", every: .milliseconds(50)) {
                looks = number() == last ? looks + 1 : 0
                last = number()
                return looks == 10
            }
            return last
        }

        @Test(arguments: [true, false])
        func `comes back in flat memory, whole and in order`(isKnown: Bool) async throws {
            try await RunningGateway.whileRunning(backend: unkept) { gateway in
                let length = Self.length
                gateway.backend.respond { _ in
                    isKnown
                        ? .generated(length: length)
                        : [
                            .message(.init(200, fields: ["Connection": "close"])), .generate(length), .close,
                        ]
                }
                let memory = try Memory()
                var (count, pieces) = (0, 0)
                try await gateway.caller.withResponse(from: "files/long") { response in
                    for try await piece in response.body {
                        #expect(piece.first == LoopbackServer.GeneratedBody.byte(at: count))
                        (count, pieces) = (count + piece.count, pieces + 1)
                        if pieces % 64 == 0 { try memory.look() }
                    }
                }
                #expect(count == length)
                #expect(memory.growth < Self.allowed, "\(memory.growth >> 20) MB")
            }
        }

        @Test(arguments: [true, false])
        func `goes out in flat memory, whole`(isKnown: Bool) async throws {
            try await RunningGateway.whileRunning(backend: unkept) { gateway in
                gateway.backend.respond { .response(body: Bytes("\($0.bodyCount)")) }
                let memory = try Memory()
                let pieces = Pieces(count: Self.length / Pieces.size, made: .init(), memory: memory)
                let count = try await gateway.caller.put(
                    "files/long", body: .stream(pieces, length: isKnown ? Self.length : nil), as: .string
                ).value
                #expect(count == "\(Self.length)")
                #expect(memory.growth < Self.allowed, "\(memory.growth >> 20) MB")
            }
        }

        @Test func `stops at its source while the caller does not read`() async throws {
            var configuration = unkept
            configuration.sendBuffer = 1 << 16
            try await RunningGateway.whileRunning(backend: configuration) { gateway in
                gateway.backend.enqueue(.generated(length: Self.length))
                try await gateway.caller.withResponse(from: "files/long") { response in
                    var pieces = response.body.makeAsyncIterator()
                    var count = try #require(await pieces.next()).count
                    try await gateway.backend.wait { $0.blockedSends > 0 }
                    let sent = try await settled { gateway.backend.bytesSent }
                    #expect(sent < Self.length / 2, "\(sent >> 20) MB")
                    while let piece = try await pieces.next() { count += piece.count }
                    #expect(count == Self.length)
                }
            }
        }

        @Test func `stops at its source while the service behind does not read`() async throws {
            try await RunningGateway.whileRunning(backend: unkept) { gateway in
                let gate = LoopbackServer.Gate()
                gateway.backend.enqueue(.response(body: "done").waiting(for: gate).beforeBody)
                let pieces = Pieces(count: Self.length / Pieces.size, made: .init(), memory: try Memory())
                async let answer = gateway.caller.put(
                    "files/long", body: .stream(pieces, length: Self.length), as: .string
                ).value
                _ = try await gateway.backend.nextRequest()
                let sent = try await settled { pieces.made.bytes }
                #expect(sent > 0 && sent < Self.length / 2, "\(sent >> 20) MB")
                gate.open()
                #expect(try await answer == "done")
                #expect(pieces.made.bytes > Self.length)
            }
        }

        @Test func `ends at its source when the caller goes away`() async throws {
            try await RunningGateway.whileRunning(backend: unkept) { gateway in
                gateway.backend.enqueue(.generated(length: Self.length))
                try await gateway.caller.withResponse(from: "files/long") { response in
                    var pieces = response.body.makeAsyncIterator()
                    _ = try await pieces.next()
                }
                try await gateway.backend.wait { $0.open == 0 }
                #expect(gateway.backend.bytesSent < Self.length)
            }
        }
    }
}
