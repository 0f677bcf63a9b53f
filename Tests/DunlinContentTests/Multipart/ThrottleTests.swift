import Dunlin
import DunlinTesting
import Folders
import FoundationEssentials
import LedgerRows
import Synchronization
import Testing

@testable import DunlinContent

@Suite(.timeLimit(.minutes(10)))
struct `A throttled body` {
    private static func pieces(_ chunks: some RequestBody.Chunks) async throws -> [Bytes] {
        var pieces: [Bytes] = []
        for try await chunk in chunks { pieces.append(chunk) }
        return pieces
    }

    private struct Parts: AsyncSequence, Sendable {
        typealias Failure = any Error
        let parts: [Bytes]
        func makeAsyncIterator() -> Iterator { Iterator(parts: parts[...]) }

        struct Iterator: AsyncIteratorProtocol {
            var parts: ArraySlice<Bytes>
            mutating func next() async throws -> Bytes? { parts.popFirst() }
        }
    }

    @Test(.rows("MP-19")) func `a throttled body is given in packets, with a pause between any two`() async throws {
        let clock = ManualClock()
        let throttle = RequestBody.Throttle(packetSize: 4, delay: .milliseconds(200))
        let folder = try Folder()
        let path = try folder.write("abcdefghij", as: "slow")
        let parts = RequestBody.replayable { Parts(parts: ["abcdef", "", "gh"]) }
        var bodies: [(RequestBody, [Bytes], Int?)] = [(.string("abcdefghij"), ["abcd", "efgh", "ij"], 10)]
        bodies.append((.file(path), ["abcd", "efgh", "ij"], 10))
        bodies.append((.file(path, range: 1..<6), ["bcde", "f"], 5))
        bodies.append((parts, ["abcd", "ef", "gh"], nil))
        for (body, expected, length) in bodies {
            let slow = try body.throttled(throttle, clock: clock)
            #expect(slow.isReplayable && slow.contentType == body.contentType)
            guard case .stream(let announced, _, let make) = slow.content else { continue }
            #expect(announced == length)
            for _ in 0..<2 {
                let pieces = try await clock.skippingWaits { try await Self.pieces(make()) }
                #expect(pieces == expected)
            }
        }
        #expect(clock.now.offset == .milliseconds(200 * 2 * (2 + 2 + 1 + 2)))
    }

    /// Notes for how long it was asked to sleep, and does not.
    private final class NotingClock: Clock {
        private let asked = Mutex<[Duration]>([])

        var now: ContinuousClock.Instant { ContinuousClock.now }
        var minimumResolution: Duration { .nanoseconds(1) }
        var longest: Duration? { asked.withLock { $0.max() } }

        func sleep(until deadline: ContinuousClock.Instant, tolerance: Duration?) {
            let left = now.duration(to: deadline)
            asked.withLock { $0.append(left) }
        }
    }

    @Test(
        arguments: [Duration.seconds(Int64.max), .seconds(Int64.min), .zero, .seconds(-1)], [Int.max, .min, 0, -1, 1])
    func `a throttled body pauses no longer than clocks can count, and gives at least a byte`(
        delay: Duration, size: Int
    ) async throws {
        let clock = NotingClock()
        let slow = try RequestBody.string("ab").throttled(.init(packetSize: size, delay: delay), clock: clock)
        guard case .stream(_, _, let make) = slow.content else { return }
        #expect(try await Self.pieces(make()) == (size == .max ? ["ab"] : ["a", "b"]))
        let hasSlept = delay > .zero && size != .max
        #expect((clock.longest != nil) == hasSlept)
        // 292 years: what any clock can add to the time it shows.
        #expect(clock.longest.map { $0 <= .nanoseconds(Int64.max) } ?? true)
    }

    @Test func `a throttled body whose pause never ends is cancelled like any other`() async throws {
        let throttle = RequestBody.Throttle(packetSize: 1, delay: .seconds(Int64.max))
        let slow = try RequestBody.string("ab").throttled(throttle)
        guard case .stream(_, _, let make) = slow.content else { return }
        let (given, giving) = AsyncStream<Void>.makeStream()
        let task = Task {
            for try await _ in make() { giving.yield() }
        }
        for await _ in given { break }
        task.cancel()
        await #expect(throws: CancellationError.self) { try await task.value }
    }

    @Test(.rows("MP-19")) func `a throttled body that is cancelled ends in the middle of a pause`() async throws {
        let clock = ManualClock()
        let slow = try RequestBody.string("ab").throttled(.init(packetSize: 1, delay: .seconds(1)), clock: clock)
        guard case .stream(_, _, let make) = slow.content else { return }
        let task = Task { try await Self.pieces(make()) }
        try await clock.waitForSleepers()
        task.cancel()
        await #expect(throws: CancellationError.self) { try await task.value }
        #expect(clock.now.offset == .zero)
    }

    @Test func `an absent body stays absent when throttled, and a file that is not there is refused`() throws {
        #expect(try RequestBody.none.throttled(.suggested3G).isNone)
        #expect(RequestBody.Throttle.suggested3G == RequestBody.Throttle(packetSize: 16_384, delay: .milliseconds(200)))
        let error = #expect(throws: NetworkError.self) { try RequestBody.file("/none").throttled(.suggested3G) }
        #expect(error?.code == .fileUnreadable)
    }
}
