import DunlinReactor
import DunlinTypes
import Testing

@testable import DunlinTransport

@Suite(.timeLimit(.minutes(10))) struct `Response reader` {
    /// The mark keeps what is there from the loop, as work on the loop would.
    @Test func `the reader finds what has come by the end of its patience, though no edge told of it`() async throws {
        let pair = try ChannelPair()
        try pair.channel.setLowWater(100)
        pair.say(10)
        let limit = pair.time.now.advanced(by: 1000)
        let reading = Task { try await Self.read(pair, before: limit) }
        try await pair.waitForReader()
        pair.time.advance(by: 1000)
        let bytes = try await reading.value
        #expect(bytes?.count == 10)
    }

    @Test func `the reader finds nothing when nothing has come by the end of its patience`() async throws {
        let pair = try ChannelPair()
        let limit = pair.time.now.advanced(by: 1000)
        let reading = Task { try await Self.read(pair, before: limit) }
        try await pair.waitForReader()
        pair.time.advance(by: 1000)
        let bytes = try await reading.value
        #expect(bytes == nil)
    }

    /// An edge is told once, and the first read has used it up.
    @Test func `the reader waits for no edge while there may be more`() async throws {
        let pair = try ChannelPair()
        pair.say(10)
        var reader = ResponseReader(.plain(pair.channel), pair.context())
        var attempt = HTTP.Hop()
        var left = 10
        while left > 0 {
            let bytes = try await reader.next(
                upTo: 4, in: .firstByte, since: pair.time.now, before: .never, &attempt)
            left -= try #require(bytes).count
        }
        #expect(attempt.bytesReceived == 10)
    }

    private static func read(_ pair: ChannelPair, before limit: HTTP.Instant) async throws -> [UInt8]? {
        var reader = ResponseReader(.plain(pair.channel), pair.context())
        var attempt = HTTP.Hop()
        return try await reader.next(
            upTo: 4096, in: .firstByte, since: pair.time.now, before: limit, &attempt)
    }
}
