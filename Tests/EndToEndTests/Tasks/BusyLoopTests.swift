import Dunlin
import DunlinTesting
import Glibc
import Synchronization
import Testing

/// Whoever computes on a loop keeps requests from going on, and nobody from cancelling them.
@Suite(.timeLimit(.minutes(10))) struct `A cancel while the loop is busy` {
    private typealias Gate = LoopbackServer.Gate

    /// A thread that computes until it is let go.
    private final class Computing: Sendable {
        private let isWanted = Atomic<Bool>(true)
        let begun = LoopbackServer.Gate()

        func compute() {
            begun.open()
            while isWanted.load(ordering: .relaxed) { usleep(200) }
        }

        func end() {
            isWanted.store(false, ordering: .relaxed)
        }
    }

    /// How far a request is when the loop stops.
    enum Point: CaseIterable, Sendable {
        /// Nobody has let it go.
        case made
        /// It is let go, and the loop has not heard of it.
        case begun
        /// It is sent, and its answer comes while the loop is busy.
        case sent
        /// Half of its body is here, and the rest comes while the loop is busy.
        case halfRead

        var isSent: Bool { self == .sent || self == .halfRead }
    }

    /// Of a task it is known that it waits only once its request is on the way.
    private static let all = Point.allCases.flatMap { point in Standstill.Means.allCases.map { (point, $0) } }.filter {
        $0.1 == .handle || $0.0.isSent
    }

    private static func reply(_ point: Point, _ door: Gate) -> LoopbackServer.Reply {
        let head = LoopbackServer.Reply.response(fields: ["Content-Length": "10"])
        if point == .halfRead { return head.then(.send("01234"), .waitForSignal(door), .send("56789")) }
        return head.then(.send("0123456789")).waiting(for: door)
    }

    @Test(arguments: all)
    func `a cancel counts at once on a busy loop, and nothing is sent or delivered after it`(
        point: Point, means: Standstill.Means
    ) async throws {
        let (door, reached, computing) = (Gate(), Gate(), Computing())
        try await Stage.with(oneLoop: true, tolerating: true) { (stage: Stage) async throws in
            let session = stage.session
            stage.server.enqueue(Self.reply(point, door))
            var options = HTTPSession.Options()
            if point == .halfRead { options.hooks.data = { _, _ in reached.open() } }
            let request = try session.task("x", options: options, as: .bytes)
            let waiting = point.isSent ? Task { try await request.value } : nil
            if point.isSent { _ = try await stage.server.waitForRequests(1) }
            if point == .halfRead { try await reached.opened() }

            async let busy: Void = session.onEventLoop { @concurrent in computing.compute() }
            try await computing.begun.opened()
            if point == .begun {
                request.resume()
                // It stands before the loop by then, and a cancel that went there too would stand behind it.
                var looks = 0
                try await stage.eventually("its turn", every: .milliseconds(2)) {
                    looks += 1
                    return looks == 20
                }
            }
            let sent = stage.server.bytesSent
            door.open()
            if point.isSent { try await stage.server.wait { $0.bytesSent >= sent + 5 } }
            if means == .task { waiting?.cancel() } else { request.cancel() }
            // Whoever cancels has not waited for the loop.
            computing.end()
            try await busy

            do {
                if let waiting { _ = try await waiting.value } else { _ = try await request.value }
                Issue.record("it was cancelled before the loop could deliver anything")
            } catch {
                #expect(means == .task ? error is CancellationError : (error as? NetworkError)?.code == .cancelled)
            }
            await session.shutdown()
            #expect(stage.server.requests.count == (point.isSent ? 1 : 0))
        }
    }
}
