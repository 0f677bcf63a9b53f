import DunlinReactor
import DunlinTypes
import Testing

@testable import DunlinTransport

@Suite(.timeLimit(.minutes(10))) struct `Response reader` {
    /// The mark keeps what is there from the loop, as work on the loop would.
    @Test func `the reader finds what has come by the end of its patience, though no edge told of it`() async throws {
        let line = try Line()
        try line.channel.setLowWater(100)
        line.say(10)
        let limit = line.time.now.advanced(by: 1000)
        let reading = Task { try await Self.read(line, before: limit) }
        try await line.waitForReader()
        line.time.advance(by: 1000)
        let bytes = try await reading.value
        #expect(bytes?.count == 10)
    }

    @Test func `the reader finds nothing when nothing has come by the end of its patience`() async throws {
        let line = try Line()
        let limit = line.time.now.advanced(by: 1000)
        let reading = Task { try await Self.read(line, before: limit) }
        try await line.waitForReader()
        line.time.advance(by: 1000)
        let bytes = try await reading.value
        #expect(bytes == nil)
    }

    /// An edge is told once, and the first read has used it up.
    @Test func `the reader waits for no edge while there may be more`() async throws {
        let line = try Line()
        line.say(10)
        var reader = ResponseReader(.plain(line.channel), line.context())
        var attempt = HTTP.Hop()
        var left = 10
        while left > 0 {
            let bytes = try await reader.next(
                upTo: 4, in: .firstByte, since: line.time.now, before: .never, &attempt)
            left -= try #require(bytes).count
        }
        #expect(attempt.bytesReceived == 10)
    }

    private static func read(_ line: Line, before limit: HTTP.Instant) async throws -> [UInt8]? {
        var reader = ResponseReader(.plain(line.channel), line.context())
        var attempt = HTTP.Hop()
        return try await reader.next(
            upTo: 4096, in: .firstByte, since: line.time.now, before: limit, &attempt)
    }
}
