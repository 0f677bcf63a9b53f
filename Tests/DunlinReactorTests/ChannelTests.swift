import DunlinTypes
import Glibc
import Testing

@testable import DunlinReactor

@Suite(.timeLimit(.minutes(10))) struct `Channel on a loop` {
    private static func begun() throws -> (ChannelPair, UInt64) {
        let pair = try ChannelPair()
        return (pair, try #require(pair.channel.beginTurn()))
    }

    @Test(arguments: [true, false])
    func `a read takes what comes before and after the wait, then the end`(isOnLoop: Bool) async throws {
        let (pair, _) = try Self.begun()
        pair.say("early")
        #expect(try await pair.read() == "early")
        async let next = read(pair, isOnLoop)
        await pair.later { pair.say("late") }
        #expect(try await next == "late")
        async let end = read(pair, isOnLoop)
        await pair.later { pair.hangUp() }
        #expect(try await end == "")
        #expect(!pair.channel.endTurn())
        #expect(pair.channel.beginTurn() == nil)
    }

    private func read(_ pair: ChannelPair, _ isOnLoop: Bool) async throws -> String? {
        guard isOnLoop else { return try await pair.read() }
        return try await withTaskExecutorPreference(pair.reactor) { try await pair.read() }
    }

    @Test func `a writer goes on when the peer has read`() async throws {
        let (pair, _) = try Self.begun()
        let sent = try pair.fill()
        async let wake = waitWritable(pair)
        await pair.later {}
        let drained = pair.drain()
        #expect(await wake == .ready)
        // The waiter's own try may have gone out before the peer was done reading.
        #expect([sent, sent + MemoryLayout<Int>.size].contains(drained))
        #expect(try pair.fill() > 0)
    }

    /// Waits until there is room, past readiness remembered from before.
    private func waitWritable(_ pair: ChannelPair) async -> Wake {
        while true {
            let wake = await pair.channel.waitWritable(until: .never)
            guard wake == .ready else { return wake }
            let count = try? [0].withUnsafeBytes { bytes throws(Errno) in try pair.channel.write(bytes) }
            if count != nil { return .ready }
        }
    }

    @Test func `an interrupt from elsewhere ends both waits`() async throws {
        let (pair, turn) = try Self.begun()
        _ = try pair.fill()
        async let reading = pair.channel.waitReadable(until: .never)
        async let writing = waitWritable(pair)
        await pair.later {}
        pair.channel.cancel(turn: turn)
        #expect(await reading == .cancelled)
        #expect(await writing == .cancelled)
        #expect(await pair.channel.waitReadable(until: .never) == .cancelled)
    }

    @Test func `closing from elsewhere ends both waits and gives everything back`() async throws {
        let (pair, _) = try Self.begun()
        _ = try pair.fill()
        #expect(pair.reactor.ledger.openChannels == 1)
        async let reading = pair.channel.waitReadable(until: .never)
        async let writing = waitWritable(pair)
        await pair.later {}
        pair.channel.close()
        #expect(await reading == .closed)
        #expect(await writing == .closed)
        #expect(pair.channel.beginTurn() == nil)
        #expect(!pair.channel.endTurn())
        #expect(!pair.channel.isStillSilent())
        pair.channel.close()
        #expect(pair.reactor.ledger.openChannels == 0)
    }

    @Test func `a deadline passes when time is moved there`() async throws {
        let (pair, _) = try Self.begun()
        let start = pair.time.now
        async let wake = pair.channel.waitReadable(until: start.advanced(by: 100))
        await pair.later {}
        pair.time.advance(by: 100)
        #expect(await wake == .timedOut)
        pair.say("x")
        #expect(try await pair.read() == "x")
    }

    @Test(arguments: [true, false])
    func `a reader is woken, whether it waits already or not`(isLate: Bool) async throws {
        let (pair, _) = try Self.begun()
        if !isLate { pair.channel.wakeReader() }
        async let wake = pair.channel.waitReadable(until: .never)
        await pair.later {}
        if isLate { pair.channel.wakeReader() }
        #expect(await wake == .woken)
        pair.say("x")
        #expect(try await pair.read() == "x")
    }

    @Test func `a second reader is refused`() async throws {
        let (pair, turn) = try Self.begun()
        async let first = pair.channel.waitReadable(until: .never)
        async let second = pair.channel.waitReadable(until: .never)
        // Whichever came first waits; interrupting it makes the pair known.
        await pair.later {}
        await pair.later { pair.channel.cancel(turn: turn) }
        let wakes = [await first, await second]
        #expect(wakes.contains(.cancelled))
        #expect(wakes.allSatisfy { $0 == .busy || $0 == .cancelled })
    }

    @Test func `a writer is sent back when writing is stopped`() async throws {
        let (pair, _) = try Self.begun()
        _ = try pair.fill()
        async let writing = waitWritable(pair)
        await pair.later {}
        pair.channel.stopWriting()
        #expect(await writing == .cancelled)
    }
}

extension `Channel on a loop` {
    @Test(arguments: [true, false])
    func `news between turns is told, and makes the channel unfit`(isEnd: Bool) async throws {
        let (pair, _) = try Self.begun()
        #expect(pair.channel.endTurn())
        if isEnd { pair.hangUp() } else { pair.say("unasked") }
        var news = pair.news.makeAsyncIterator()
        #expect(await news.next() == pair.channel.id)
        #expect(!pair.channel.isStillSilent())
        #expect(pair.channel.beginTurn() == nil)
    }

    /// On the loop's own thread: while that is here, the loop cannot hear of anything.
    @Test(arguments: [true, false])
    func `bytes or an end that come while the loop computes make the channel unfit too`(isEnd: Bool) async throws {
        let (pair, _) = try Self.begun()
        pair.say("x")
        #expect(try await pair.read() == "x")
        let next = await withTaskExecutorPreference(pair.reactor) { @concurrent in
            #expect(pair.channel.endTurn())
            if isEnd { pair.hangUp() } else { pair.say("unasked") }
            Self.passFreshness()
            return pair.channel.beginTurn()
        }
        #expect(next == nil)
    }

    /// Requests begin together, and the second need not look again.
    @Test func `a turn that follows no look has the loop look at all its sockets`() async throws {
        let reactor = try Reactor(name: "test")
        defer { reactor.retire() }
        let (first, second) = (try ChannelPair(on: reactor), try ChannelPair(on: reactor))
        await withTaskExecutorPreference(reactor) { @concurrent in
            second.say("unasked")
            Self.passFreshness()
            #expect(first.channel.beginTurn() != nil)
            #expect(second.channel.wasAnnounced)
            #expect(second.channel.beginTurn() == nil)
        }
    }

    /// Keeps the thread busy until no look before this is fresh.
    private static func passFreshness() {
        let start = Reactor.lookTime
        while Reactor.lookTime <= start.advanced(by: ChannelMachine<Int>.freshness) {}
    }

    @Test func `an edge whose bytes were read already does no harm`() async throws {
        let (pair, first) = try Self.begun()
        pair.say("x")
        #expect(try await pair.read() == "x")
        #expect(pair.channel.endTurn())
        let second = try #require(pair.channel.beginTurn())
        #expect(second > first)
    }

    /// The loop sees the last bytes and the end behind them as one edge. Somebody who read all the bytes there were,
    /// and then waits, must still hear of the end.
    @Test func `an end that came with the last bytes is not lost`() async throws {
        let (pair, _) = try Self.begun()
        await pair.atOnce("last", hangsUp: true)
        #expect(await pair.channel.waitReadable(until: .never) == .ready)
        #expect(try pair.channel.read(upTo: 100) == Array("last".utf8))
        let deadline = pair.time.now.advanced(by: 1)
        async let wake = pair.channel.waitReadable(until: deadline)
        await pair.later { pair.time.advance(by: 1) }
        #expect(await wake == .ready)
        #expect(try pair.channel.read(upTo: 100) == [])
    }

    @Test func `an end that came with the last bytes makes a channel unfit`() async throws {
        let (pair, _) = try Self.begun()
        await pair.atOnce("last", hangsUp: true)
        #expect(await pair.channel.waitReadable(until: .never) == .ready)
        #expect(try pair.channel.read(upTo: 100) == Array("last".utf8))
        #expect(!pair.channel.endTurn())
        #expect(pair.channel.beginTurn() == nil)
    }

    /// A reader that filled its buffer has to look for more itself: the edge is told.
    @Test(arguments: [("onetwo", false), ("one", true)])
    func `whoever read only a part can look for the rest`(text: String, isSilent: Bool) async throws {
        let (pair, _) = try Self.begun()
        await pair.atOnce(text, hangsUp: false)
        #expect(await pair.channel.waitReadable(until: .never) == .ready)
        #expect(try pair.channel.read(upTo: 3) == Array("one".utf8))
        #expect(pair.channel.isStillSilent() == isSilent)
    }

    @Test func `a read that took exactly what there was does no harm`() async throws {
        let (pair, _) = try Self.begun()
        pair.say("one")
        #expect(await pair.channel.waitReadable(until: .never) == .ready)
        #expect(try pair.channel.read(upTo: 3) == Array("one".utf8))
        #expect(pair.channel.endTurn())
        #expect(pair.channel.beginTurn() != nil)
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
        let pair = try ChannelPair()
        for round in 0..<3000 {
            let turn = try #require(pair.channel.beginTurn())
            let cancel = Task.detached { pair.channel.cancel(turn: turn) }
            if round % 2 == 0 { await Task.yield() }
            #expect(pair.channel.endTurn())
            let next = try #require(pair.channel.beginTurn())
            async let wake = pair.channel.waitReadable(until: .never)
            await cancel.value
            pair.say("x")
            #expect(await wake == .ready)
            #expect(try pair.channel.read(upTo: 9)?.count == 1)
            #expect(next > turn)
            _ = pair.channel.endTurn()
        }
    }

    /// The peer hangs up just as the owner of the next turn looks whether an old edge was about something new.
    @Test func `an end is not lost to a look at an old edge`() async throws {
        for _ in 0..<500 {
            let (pair, _) = try Self.begun()
            pair.say("x")
            #expect(try pair.channel.read(upTo: 1) != nil)
            async let end: Void = Self.hangUp(pair)
            var turns = 1
            while turns < 50, pair.channel.endTurn(), pair.channel.beginTurn() != nil { turns += 1 }
            await end
            // Still in a turn: the end has not been told yet, so it must be told to this wait.
            if turns == 50 { #expect(await Self.hear(pair) == .ready) }
        }
    }

    /// A wait that the test's time limit ends.
    private static func hear(_ pair: ChannelPair) async -> Wake {
        await withTaskCancellationHandler {
            await pair.channel.waitReadable(until: .never)
        } onCancel: {
            pair.channel.close()
        }
    }

    @concurrent private static func hangUp(_ pair: ChannelPair) async {
        pair.hangUp()
    }
}
