import Dunlin
import DunlinTesting
import Synchronization
import Testing

/// An upload that fails by itself has been under way: its hop tells how.
@Suite(.inClearAndOverTLS, .timeLimit(.minutes(10)))
struct `The hop of an upload that fails by itself` {
    enum Fault: CaseIterable {
        case tooShort, tooLong, ownError, anotherRequest
    }

    private struct Own: Error {}

    private static var another: NetworkError {
        var (error, hop) = (NetworkError(.connectionFailed, "nobody is there", phase: .connect), HTTP.Hop())
        hop.connection = .max
        error.hop = hop
        return error
    }

    /// A body of ten pieces of 1,000 bytes, and what is wrong with it.
    private static func body(_ fault: Fault) -> RequestBody {
        let pieces = AsyncThrowingStream<Bytes, any Error> { continuation in
            for _ in 0..<10 { continuation.yield(Bytes([UInt8](repeating: 0x61, count: 1000))) }
            switch fault {
            case .tooShort, .tooLong: continuation.finish()
            case .ownError: continuation.finish(throwing: Own())
            case .anotherRequest: continuation.finish(throwing: another)
            }
        }
        switch fault {
        case .tooShort: return .stream(pieces, length: 10_001)
        case .tooLong: return .stream(pieces, length: 9500)
        case .ownError, .anotherRequest: return .stream(pieces, length: nil)
        }
    }

    @Test(arguments: Fault.allCases, [false, true])
    func `the hop of an upload that fails by itself has the connection, the bytes and the times`(
        fault: Fault, isAnswered: Bool
    ) async throws {
        let ends = Mutex<[HTTPSession.Completion]>([])
        try await Stage.with(
            tolerating: true, configure: { $0.hooks.completed = { end in ends.withLock { $0.append(end) } } }
        ) { (stage: Stage) async throws in
            // An answer that comes first is no end: the rest is sent meanwhile.
            let early = LoopbackServer.Reply.response(body: "early").beforeBody
            stage.server.respond { _ in isAnswered ? early : .response(body: "late") }
            let body = Self.body(fault)
            await #expect(throws: (any Error).self) {
                _ = try await stage.session.post("up", body: body, options: .init(retry: .never), as: .bytes)
            }
            try await stage.eventually("the hook is told") { ends.withLock { !$0.isEmpty } }
            let end = try #require(ends.withLock { $0.first })
            let hop = try #require(end.metrics.hops.last)
            #expect(end.metrics.hops.count == 1)
            #expect(hop.connection > 0 && hop.peer != nil)
            #expect(hop.bytesSent > 9000 && hop.bytesSent < 11_000)
            #expect(hop.duration(of: .connect) != nil)
            // Both pass at once here, and time counts for one of them.
            #expect(hop.duration(of: .send) != nil || hop.duration(of: .firstByte) != nil)
            #expect(hop.started.nanoseconds > 0 && hop.total > .zero)
            switch fault {
            case .ownError: #expect(end.error is Own)
            case .tooShort, .tooLong, .anotherRequest: #expect((end.error as? NetworkError)?.hop == hop)
            }
        }
    }
}
