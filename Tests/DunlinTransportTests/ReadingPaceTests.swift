import DunlinReactor
import DunlinTypes
import Testing

@testable import DunlinTransport

@Suite struct `Reading pace` {
    static let mark = ReadingPace.mark

    private static func pace(after counts: [Int]) -> ReadingPace {
        var pace = ReadingPace()
        for count in counts { pace.took(count) }
        return pace
    }

    @Test(
        arguments: [
            ([], 65_536), ([1], 65_536), ([65_535, 100], 65_536), ([65_536], 262_144), ([65_536, 1], 262_144),
            ([65_536, 262_144], 262_144),
        ] as [([Int], Int)])
    func `the reading pace asks for more once a read filled its buffer`(counts: [Int], size: Int) {
        #expect(Self.pace(after: counts).readSize == size)
    }

    @Test(
        arguments: [
            ([], .max, nil), ([65_536], .max, nil), ([65_536, 262_143], .max, nil),
            ([65_536, 262_144], .max, mark), ([65_536, 262_144], mark, mark), ([65_536, 262_144], mark - 1, nil),
            ([65_536, 262_144, 10], mark, mark), ([65_536, 262_144], 0, nil),
        ] as [([Int], Int, Int?)])
    func `a mark is set for a peer who is ahead, if that much is sure to come`(
        counts: [Int], certain: Int, expected: Int?
    ) {
        var pace = Self.pace(after: counts)
        #expect(pace.beforeWait(certain: certain) == expected)
        #expect(pace.beforeWait(certain: certain) == nil, "what has been said is not said again")
        #expect(pace.isMarked == (expected != nil))
    }

    @Test func `the mark is taken back before the end, for a slow peer, and when the body has ended`() {
        let ways: [(inout ReadingPace) -> Int?] = [
            { $0.beforeWait(certain: Self.mark - 1) }, { $0.fellBehind() }, { $0.end() },
        ]
        for way in ways {
            var pace = Self.pace(after: [65_536, 262_144])
            #expect(way(&pace) == nil, "there is nothing to take back yet")
            pace = Self.pace(after: [65_536, 262_144])
            _ = pace.beforeWait(certain: .max)
            #expect(way(&pace) == ReadingPace.noMark)
            #expect(!pace.isMarked)
        }
    }

    @Test func `the reading pace begins small again after a peer was slow`() {
        var pace = Self.pace(after: [65_536, 262_144])
        _ = pace.beforeWait(certain: .max)
        _ = pace.fellBehind()
        #expect(pace == ReadingPace())
    }
}

extension ChannelPair {
    fileprivate func reader(idle: Duration?) -> ResponseReader {
        ResponseReader(.plain(channel), context(Timeouts(readIdle: idle)))
    }

    /// Reads once, as the reader of a body does whose peer has been ahead so far.
    fileprivate func read(_ pace: inout ReadingPace, idle: Duration? = .seconds(30)) async throws -> Int {
        var reader = reader(idle: idle)
        var bytes: [UInt8] = []
        var attempt = HTTP.Hop()
        let hasRead = try await reader.next(
            into: &bytes, replacing: true, upTo: .max, at: &pace, certain: .max, in: .receive, since: time.now,
            before: .never, &attempt)
        #expect(hasRead && attempt.bytesReceived == bytes.count)
        return bytes.count
    }
}

@Suite(.timeLimit(.minutes(10))) struct `Reading at a pace` {
    private static var leading: ReadingPace {
        var pace = ReadingPace()
        pace.took(ReadingPace.firstRead)
        pace.took(ReadingPace.bulkRead)
        return pace
    }

    @Test func `a reader sleeps until the mark is reached`() async throws {
        let pair = try ChannelPair()
        async let outcome = {
            var pace = Self.leading
            return (try await pair.read(&pace), pace.isMarked)
        }()
        try await pair.waitForReader()
        #expect(try pair.channel.lowWater() == ReadingPace.mark)
        // The kernel may call a nearly full buffer enough, and does so the sooner the busier it is.
        for _ in 0..<5 {
            pair.say(64 * 1024)
            try await pair.waitForReader()
        }
        for _ in 0..<3 { pair.say(64 * 1024) }
        let (count, isMarked) = try await outcome
        #expect(count == ReadingPace.bulkRead)
        #expect(isMarked)
    }

    @Test func `a reader takes what a slow peer has sent when its patience ends`() async throws {
        let pair = try ChannelPair()
        async let outcome = {
            var pace = Self.leading
            return (try await pair.read(&pace), pace)
        }()
        try await pair.waitForReader()
        pair.say(1000)
        try await pair.waitForReader()
        pair.time.advance(by: ReadingPace.longestWait)
        let (count, pace) = try await outcome
        #expect(count == 1000)
        #expect(pace == ReadingPace())
        #expect(try pair.channel.lowWater() == 1)
    }

    @Test func `a reader finds the end of the stream below the mark`() async throws {
        let pair = try ChannelPair()
        async let count = {
            var pace = Self.leading
            return try await pair.read(&pace)
        }()
        try await pair.waitForReader()
        pair.say(1000)
        pair.hangUp()
        #expect(try await count == 1000)
    }

    @Test func `bytes below the mark count before an idle limit is exceeded`() async throws {
        let pair = try ChannelPair()
        async let count = {
            var pace = Self.leading
            return try await pair.read(&pace, idle: .milliseconds(1))
        }()
        try await pair.waitForReader()
        pair.say(1000)
        pair.time.advance(by: 1_000_000)
        #expect(try await count == 1000)
    }

    @Test func `a read ends at an idle limit when nothing came`() async throws {
        let pair = try ChannelPair()
        async let outcome: NetworkError? = {
            var pace = Self.leading
            do {
                _ = try await pair.read(&pace)
                return nil
            } catch let error as NetworkError {
                return error
            }
        }()
        try await pair.waitForReader()
        pair.time.advance(by: ReadingPace.longestWait)
        try await pair.waitForReader()
        pair.time.advance(by: 30_000_000_000)
        let error = try #require(try await outcome)
        #expect(error.code == .timedOut)
        #expect(error.phase == .receive)
    }
}
