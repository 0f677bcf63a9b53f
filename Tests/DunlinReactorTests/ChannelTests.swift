import DunlinTypes
import Glibc
import Testing

@testable import DunlinReactor

@Suite(.timeLimit(.minutes(10))) struct `Channel on a loop` {
    private static func begun() throws -> (Line, UInt64) {
        let line = try Line()
        return (line, try #require(line.channel.beginTurn()))
    }

    @Test(arguments: [true, false])
    func `a read takes what comes before and after the wait, then the end`(isOnLoop: Bool) async throws {
        let (line, _) = try Self.begun()
        line.say("early")
        #expect(try await line.read() == "early")
        async let next = read(line, isOnLoop)
        await line.later { line.say("late") }
        #expect(try await next == "late")
        async let end = read(line, isOnLoop)
        await line.later { line.hangUp() }
        #expect(try await end == "")
        #expect(!line.channel.endTurn())
        #expect(line.channel.beginTurn() == nil)
    }

    private func read(_ line: Line, _ isOnLoop: Bool) async throws -> String? {
        guard isOnLoop else { return try await line.read() }
        return try await withTaskExecutorPreference(line.reactor) { try await line.read() }
    }

    @Test func `a writer goes on when the peer has read`() async throws {
        let (line, _) = try Self.begun()
        let sent = try line.fill()
        async let wake = waitWritable(line)
        await line.later {}
        let waitUntilEmpty = line.drain()
        #expect(await wake == .ready)
        // The waiter's own try may have gone out before the peer was done reading.
        #expect([sent, sent + MemoryLayout<Int>.size].contains(waitUntilEmpty))
        #expect(try line.fill() > 0)
    }

    /// Waits until there is room, past readiness remembered from before.
    private func waitWritable(_ line: Line) async -> Wake {
        while true {
            let wake = await line.channel.waitWritable(until: .never)
            guard wake == .ready else { return wake }
            let count = try? [0].withUnsafeBytes { bytes throws(Errno) in try line.channel.write(bytes) }
            if count != nil { return .ready }
        }
    }

    @Test func `an interrupt from elsewhere ends both waits`() async throws {
        let (line, turn) = try Self.begun()
        _ = try line.fill()
        async let reading = line.channel.waitReadable(until: .never)
        async let writing = waitWritable(line)
        await line.later {}
        line.channel.cancel(turn: turn)
        #expect(await reading == .cancelled)
        #expect(await writing == .cancelled)
        #expect(await line.channel.waitReadable(until: .never) == .cancelled)
    }

    @Test func `closing from elsewhere ends both waits and gives everything back`() async throws {
        let (line, _) = try Self.begun()
        _ = try line.fill()
        #expect(line.reactor.ledger.openChannels == 1)
        async let reading = line.channel.waitReadable(until: .never)
        async let writing = waitWritable(line)
        await line.later {}
        line.channel.close()
        #expect(await reading == .closed)
        #expect(await writing == .closed)
        #expect(line.channel.beginTurn() == nil)
        #expect(!line.channel.endTurn())
        #expect(!line.channel.isStillSilent())
        line.channel.close()
        #expect(line.reactor.ledger.openChannels == 0)
    }

    @Test func `a deadline passes when time is moved there`() async throws {
        let (line, _) = try Self.begun()
        let start = line.time.now
        async let wake = line.channel.waitReadable(until: start.advanced(by: 100))
        await line.later {}
        line.time.advance(by: 100)
        #expect(await wake == .timedOut)
        line.say("x")
        #expect(try await line.read() == "x")
    }

    @Test(arguments: [true, false])
    func `a reader is woken, whether it waits already or not`(isLate: Bool) async throws {
        let (line, _) = try Self.begun()
        if !isLate { line.channel.wakeReader() }
        async let wake = line.channel.waitReadable(until: .never)
        await line.later {}
        if isLate { line.channel.wakeReader() }
        #expect(await wake == .woken)
        line.say("x")
        #expect(try await line.read() == "x")
    }

    @Test func `a second reader is refused`() async throws {
        let (line, turn) = try Self.begun()
        async let first = line.channel.waitReadable(until: .never)
        async let second = line.channel.waitReadable(until: .never)
        // Whichever came first waits; interrupting it makes the pair known.
        await line.later {}
        await line.later { line.channel.cancel(turn: turn) }
        let wakes = [await first, await second]
        #expect(wakes.contains(.cancelled))
        #expect(wakes.allSatisfy { $0 == .busy || $0 == .cancelled })
    }

    @Test func `a writer is sent back when writing is stopped`() async throws {
        let (line, _) = try Self.begun()
        _ = try line.fill()
        async let writing = waitWritable(line)
        await line.later {}
        line.channel.stopWriting()
        #expect(await writing == .cancelled)
    }
}

extension `Channel on a loop` {
    @Test(arguments: [true, false])
    func `news between turns is told, and makes the channel unfit`(isEnd: Bool) async throws {
        let (line, _) = try Self.begun()
        #expect(line.channel.endTurn())
        if isEnd { line.hangUp() } else { line.say("unasked") }
        var news = line.news.makeAsyncIterator()
        #expect(await news.next() == line.channel.id)
        #expect(!line.channel.isStillSilent())
        #expect(line.channel.beginTurn() == nil)
    }

    /// On the loop's own thread: while that is here, the loop cannot hear of anything.
    @Test(arguments: [true, false])
    func `bytes or an end that come while the loop computes make the channel unfit too`(isEnd: Bool) async throws {
        let (line, _) = try Self.begun()
        line.say("x")
        #expect(try await line.read() == "x")
        let next = await withTaskExecutorPreference(line.reactor) { @concurrent in
            #expect(line.channel.endTurn())
            if isEnd { line.hangUp() } else { line.say("unasked") }
            let start = Reactor.lookTime
            while Reactor.lookTime <= start.advanced(by: ChannelMachine<Int>.freshness) {}
            return line.channel.beginTurn()
        }
        #expect(next == nil)
    }

    @Test func `an edge whose bytes were read already does no harm`() async throws {
        let (line, first) = try Self.begun()
        line.say("x")
        #expect(try await line.read() == "x")
        #expect(line.channel.endTurn())
        let second = try #require(line.channel.beginTurn())
        #expect(second > first)
    }

    /// The loop sees the last bytes and the end behind them as one edge. Somebody who read all the bytes there were,
    /// and then waits, must still hear of the end.
    @Test func `an end that came with the last bytes is not lost`() async throws {
        let (line, _) = try Self.begun()
        await line.atOnce("last", hangsUp: true)
        #expect(await line.channel.waitReadable(until: .never) == .ready)
        #expect(try line.channel.read(upTo: 100) == Array("last".utf8))
        let deadline = line.time.now.advanced(by: 1)
        async let wake = line.channel.waitReadable(until: deadline)
        await line.later { line.time.advance(by: 1) }
        #expect(await wake == .ready)
        #expect(try line.channel.read(upTo: 100) == [])
    }

    @Test func `an end that came with the last bytes makes a channel unfit`() async throws {
        let (line, _) = try Self.begun()
        await line.atOnce("last", hangsUp: true)
        #expect(await line.channel.waitReadable(until: .never) == .ready)
        #expect(try line.channel.read(upTo: 100) == Array("last".utf8))
        #expect(!line.channel.endTurn())
        #expect(line.channel.beginTurn() == nil)
    }

    /// A reader that filled its buffer has to look for more itself: the edge is told.
    @Test(arguments: [("onetwo", false), ("one", true)])
    func `whoever read only a part can look for the rest`(text: String, isSilent: Bool) async throws {
        let (line, _) = try Self.begun()
        await line.atOnce(text, hangsUp: false)
        #expect(await line.channel.waitReadable(until: .never) == .ready)
        #expect(try line.channel.read(upTo: 3) == Array("one".utf8))
        #expect(line.channel.isStillSilent() == isSilent)
    }

    @Test func `a read that took exactly what there was does no harm`() async throws {
        let (line, _) = try Self.begun()
        line.say("one")
        #expect(await line.channel.waitReadable(until: .never) == .ready)
        #expect(try line.channel.read(upTo: 3) == Array("one".utf8))
        #expect(line.channel.endTurn())
        #expect(line.channel.beginTurn() != nil)
    }

    @Test func `a file that epoll does not take leaves nothing behind`() throws {
        let reactor = try Reactor()
        defer { reactor.retire() }
        let file = open("/dev/zero", O_RDONLY | O_CLOEXEC)
        try #require(file >= 0)
        // A directory cannot be polled.
        let directory = open("/", O_RDONLY | O_CLOEXEC)
        close(file)
        #expect(throws: Errno(rawValue: EPERM)) { _ = try Channel(Socket(adopting: directory), on: reactor) }
        #expect(reactor.ledger.openChannels == 0)
    }

    /// An interrupt names its turn. However late it comes, it must not end a wait of a later turn, which only bytes
    /// may end.
    @Test func `a late interrupt never reaches the next turn`() async throws {
        let line = try Line()
        for round in 0..<3000 {
            let turn = try #require(line.channel.beginTurn())
            let cancel = Task.detached { line.channel.cancel(turn: turn) }
            if round % 2 == 0 { await Task.yield() }
            #expect(line.channel.endTurn())
            let next = try #require(line.channel.beginTurn())
            async let wake = line.channel.waitReadable(until: .never)
            await cancel.value
            line.say("x")
            #expect(await wake == .ready)
            #expect(try line.channel.read(upTo: 9)?.count == 1)
            #expect(next > turn)
            _ = line.channel.endTurn()
        }
    }

    /// The peer hangs up just as the owner of the next turn looks whether an old edge was about something new.
    @Test func `an end is not lost to a look at an old edge`() async throws {
        for _ in 0..<500 {
            let (line, _) = try Self.begun()
            line.say("x")
            #expect(try line.channel.read(upTo: 1) != nil)
            async let end: Void = Self.hangUp(line)
            var turns = 1
            while turns < 50, line.channel.endTurn(), line.channel.beginTurn() != nil { turns += 1 }
            await end
            // Still in a turn: the end has not been told yet, so it must be told to this wait.
            if turns == 50 { #expect(await Self.hear(line) == .ready) }
        }
    }

    /// A wait that the test's time limit ends.
    private static func hear(_ line: Line) async -> Wake {
        await withTaskCancellationHandler {
            await line.channel.waitReadable(until: .never)
        } onCancel: {
            line.channel.close()
        }
    }

    @concurrent private static func hangUp(_ line: Line) async {
        line.hangUp()
    }
}
