import DunlinReactor
import DunlinTesting
import DunlinTypes
import Glibc
import Testing

@testable import DunlinTransport

/// Races on a loop of their own, by a clock that stands still.
private final class Track: Sendable {
    let time = ManualTime()
    let reactor: Reactor
    let cancellation = Cancellation()
    private let announcements = AsyncStream.makeStream(of: UInt64.self).continuation

    init() throws {
        reactor = try Reactor(time: .manual(time))
    }

    deinit { reactor.retire() }

    struct Outcome: Sendable {
        var peer: HTTP.SocketAddress?
        /// The connected channel's far end, as the kernel has it.
        var winner: HTTP.SocketAddress?
        var failures = NetworkError.ConnectionFailures()
        var wake: Wake?
        /// Channels open at the end of the race; the winner is closed after they were counted.
        var open = 0
    }

    func race(_ addresses: [HTTP.SocketAddress], _ options: HTTP.SocketOptions = HTTP.SocketOptions()) async throws
        -> Outcome
    {
        let race = AddressRace(
            dialer: Dialer(options: options, reactor: reactor, announcing: announcements), delay: 250,
            deadline: time.now.advanced(by: 1000), cancellation: cancellation)
        return try await withTaskExecutorPreference(reactor) {
            var attempt = HTTP.Hop()
            var outcome = Outcome()
            switch await race.run(addresses, &attempt) {
            case .open(let line):
                outcome.open = reactor.ledger.openChannels
                outcome.winner = line.address
                try line.channel.pendingError()
                #expect(line.channel.endTurn())
                line.channel.close()
            case .refused(let failures): outcome.failures = failures
            case .gaveUp(let wake): outcome.wake = wake
            }
            outcome.peer = attempt.peer
            #expect(reactor.ledger.openChannels == 0)
            return outcome
        }
    }

    /// So many attempts are underway and wait.
    func waitForAttempts(_ count: Int) async throws {
        try await eventually("\(count) attempts wait", following: Turns(of: reactor)) {
            reactor.armedDeadlines == count
        }
    }
}

@Suite(.timeLimit(.minutes(10))) struct `Address race` {
    /// Nothing listens here.
    /// An address that nobody listens on. Its port is held until the process ends, lest another test's server gets it.
    private static func refusing() throws -> HTTP.SocketAddress {
        let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let code = withUnsafeMutablePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { pointer in
                bind(descriptor, pointer, length) == 0 ? getsockname(descriptor, pointer, &length) : -1
            }
        }
        try #require(code == 0)
        return .v4(0x7F00_0001, port: UInt16(bigEndian: address.sin_port))
    }

    private static func refusingSix() throws -> HTTP.SocketAddress {
        let server = try LoopbackServer(.ipv6)
        server.stop()
        return server.address
    }

    /// A server that lets connects hang.
    private static func silent(_ endpoint: LoopbackServer.Endpoint = .ipv4) throws -> LoopbackServer {
        var configuration = LoopbackServer.Configuration()
        configuration.completesConnections = false
        return try LoopbackServer(endpoint, configuration: configuration)
    }

    @Test(arguments: [1, 2, 3])
    func `a race takes the first address that answers, at once after those that refuse`(count: Int) async throws {
        let server = try LoopbackServer(.ipv6)
        defer { server.stop() }
        let track = try Track()
        let refusing = try (1..<count).map { _ in try Self.refusing() }
        let outcome = try await track.race(refusing + [server.address])
        #expect(outcome.winner == server.address)
        #expect(outcome.peer == server.address)
        #expect(outcome.open == 1)
    }

    @Test func `a race starts the next attempt beside a slow one, and closes what lost`() async throws {
        let (slow, alsoSlow) = (try Self.silent(.ipv6), try Self.silent())
        let server = try LoopbackServer()
        defer { for each in [slow, alsoSlow, server] { each.stop() } }
        let track = try Track()
        async let race = track.race([slow.address, alsoSlow.address, server.address])
        try await track.waitForAttempts(1)
        track.time.advance(by: 250)
        try await track.waitForAttempts(2)
        #expect(server.connectionCount == 0)
        track.time.advance(by: 250)
        let outcome = try await race
        #expect(outcome.winner == server.address)
        #expect(outcome.peer == server.address)
        #expect(outcome.open == 1)
    }

    @Test(arguments: [1, 2])
    func `a race ends at the deadline for all attempts`(count: Int) async throws {
        let slow = try (0..<count).map { try Self.silent($0 == 0 ? .ipv4 : .ipv6) }
        defer { for each in slow { each.stop() } }
        let track = try Track()
        async let race = track.race(slow.map(\.address))
        try await track.waitForAttempts(1)
        if count == 2 {
            track.time.advance(by: 250)
            try await track.waitForAttempts(2)
        }
        track.time.advance(by: 1000)
        let outcome = try await race
        #expect(outcome.wake == .timedOut)
        #expect(outcome.peer == slow.last?.address)
    }

    @Test(arguments: [1, 2, 20])
    func `a failed race tells of each address what the system said`(count: Int) async throws {
        let addresses = try (0..<count).map { try $0.isMultiple(of: 2) ? Self.refusing() : Self.refusingSix() }
        let outcome = try await Track().race(addresses)
        #expect(outcome.winner == nil)
        #expect(outcome.failures.failures.map(\.address) == Array(addresses.prefix(16)))
        #expect(outcome.failures.failures.allSatisfy { $0.errno == ECONNREFUSED })
        #expect(outcome.failures.count == count)
        #expect(outcome.failures.description.hasPrefix("\(addresses[0]): Connection refused"))
        #expect(outcome.failures.description.hasSuffix("; 4 more") == (count == 20))
    }

    /// The kernel sends a lost SYN again after a second: that is how long this takes.
    @Test func `a race hears of an old attempt while a new one is underway`() async throws {
        let (old, new) = (try Self.silent(), try Self.silent(.ipv6))
        let track = try Track()
        async let race = track.race([old.address, new.address])
        try await track.waitForAttempts(1)
        track.time.advance(by: 250)
        try await track.waitForAttempts(2)
        old.stop()
        try await track.waitForAttempts(1)
        new.stop()
        #expect(try await race.failures.failures.map(\.address) == [old.address, new.address])
    }

    @Test(arguments: [(1, false), (1, true), (2, false), (2, true)])
    func `a race ends at once when it is cancelled`(count: Int, isEarly: Bool) async throws {
        let slow = try (0..<count).map { _ in try Self.silent() }
        defer { for each in slow { each.stop() } }
        let track = try Track()
        if isEarly { track.cancellation.cancel(.handle) }
        async let race = track.race(slow.map(\.address))
        if !isEarly {
            try await track.waitForAttempts(1)
            if count == 2 {
                track.time.advance(by: 250)
                try await track.waitForAttempts(2)
            }
            track.cancellation.cancel(.handle)
        }
        #expect(try await race.wake == .cancelled)
    }

    @Test func `a race ends properly when it is cancelled at any moment`() async throws {
        let slow = try Self.silent()
        let server = try LoopbackServer()
        let refusing = try Self.refusing()
        defer { for each in [slow, server] { each.stop() } }
        try await withThrowingTaskGroup(of: Void.self) { group in
            for number in 0..<100 {
                group.addTask {
                    let track = try Track()
                    async let race = track.race([refusing, slow.address, server.address])
                    for _ in 0..<number % 10 { await Task.yield() }
                    if number.isMultiple(of: 3) { track.time.advance(by: 250) }
                    track.cancellation.cancel(.handle)
                    let outcome = try await race
                    #expect(outcome.wake == .cancelled || outcome.winner == server.address)
                }
            }
            try await group.waitForAll()
        }
    }

    @Test func `an option that the system refuses counts as a failed address`() async throws {
        let server = try LoopbackServer()
        defer { server.stop() }
        var options = HTTP.SocketOptions()
        options.interface = "no-such-device"
        let outcome = try await Track().race([server.address], options)
        #expect(outcome.failures.failures.first?.errno == ENODEV)
        #expect(outcome.failures.failures.first?.reason == "the interface no-such-device: No such device")
        #expect(server.connectionCount == 0)
    }
}
