import DunlinTesting
import DunlinTypes
import Glibc
import LedgerRows
import Synchronization
import Testing

@testable import DunlinReactor

@Suite(.timeLimit(.minutes(10))) struct `The link monitor` {
    /// What the monitor listens to here: the near ends go there one after the other, the far ends are the kernel.
    private final class Kernel: Sendable {
        private struct State {
            var far: [Int32] = []
            var refusals = 0
            var pictures = 0
        }

        private let state = Mutex(State())
        let loop: Reactor
        let refuses: Bool

        init(refuses: Bool = false) throws {
            loop = try Reactor(name: "links")
            self.refuses = refuses
        }

        deinit {
            loop.retire()
            for descriptor in state.withLock({ $0.far }) where descriptor >= 0 { close(descriptor) }
        }

        var opened: Int { state.withLock { $0.far.count } }
        var pictures: Int { state.withLock { $0.pictures } }

        func makeMonitor() -> LinkMonitor {
            LinkMonitor(
                source: LinkSource(
                    loop: { [loop] in loop }, open: { [self] () throws(Errno) in OpenLinkSource(try open()) },
                    picture: { [self] in
                        state.withLock { $0.pictures += 1 }
                        return LinkPicture()
                    }))
        }

        private func open() throws(Errno) -> Socket {
            if refuses { throw Errno(rawValue: EPERM) }
            var ends: [Int32] = [-1, -1]
            let kind = Int32(SOCK_SEQPACKET.rawValue) | Int32(SOCK_NONBLOCK.rawValue) | Int32(SOCK_CLOEXEC.rawValue)
            guard socketpair(AF_UNIX, kind, 0, &ends) == 0 else { throw Errno.last }
            state.withLock { $0.far.append(ends[1]) }
            return Socket(adopting: ends[0])
        }

        func say(_ bytes: [UInt8]) {
            let descriptor = state.withLock { $0.far.last ?? -1 }
            #expect(send(descriptor, bytes, bytes.count, Int32(MSG_NOSIGNAL)) == bytes.count)
        }

        func hangUp() {
            let descriptor = state.withLock { state in
                defer { state.far[state.far.count - 1] = -1 }
                return state.far[state.far.count - 1]
            }
            close(descriptor)
        }
    }

    private static let news = NetlinkBytes.message(NetlinkBytes.newAddress, [])

    @Test func `the link monitor hints once when it begins, and once after each news`() async throws {
        let kernel = try Kernel()
        let monitor = kernel.makeMonitor()
        var hints: AsyncStream<Void>.Iterator? = monitor.changes().makeAsyncIterator()
        await hints?.next()
        #expect(kernel.opened == 1)
        for bytes in [Self.news, [1, 2, 3], Self.news + Self.news, NetlinkBytes.message(NetlinkBytes.overrun, [])] {
            kernel.say(bytes)
            await hints?.next()
        }
        // What is no news is none: the next hint is of what follows.
        let before = monitor.isRunning
        kernel.say(NetlinkBytes.message(NetlinkBytes.newNeighbour, []))
        kernel.say(Self.news)
        await hints?.next()
        hints = nil
        #expect(before)
        #expect(!monitor.isRunning)
        try await eventually("all is closed", following: Turns(of: kernel.loop)) {
            kernel.loop.ledger.openChannels == 0
        }
    }

    @Test func `the link monitor begins anew when the socket has broken, and hints`() async throws {
        let kernel = try Kernel()
        let monitor = kernel.makeMonitor()
        let stream = monitor.changes()
        var hints = stream.makeAsyncIterator()
        await hints.next()
        for round in 2...4 {
            kernel.hangUp()
            await hints.next()
            #expect(kernel.opened == round)
        }
        kernel.say(Self.news)
        await hints.next()
    }

    @Test func `one link monitor serves all observers, and ends with the last`() async throws {
        let kernel = try Kernel()
        let monitor = kernel.makeMonitor()
        var first: AsyncStream<Void>.Iterator? = monitor.changes().makeAsyncIterator()
        var second: AsyncStream<Void>.Iterator? = monitor.changes().makeAsyncIterator()
        await first?.next()
        await second?.next()
        #expect(kernel.opened == 1)
        first = nil
        #expect(monitor.isRunning)
        kernel.say(Self.news)
        await second?.next()
        second = nil
        #expect(!monitor.isRunning)
        let again = monitor.changes()
        var third = again.makeAsyncIterator()
        await third.next()
        #expect(kernel.opened == 2)
    }

    @Test func `a wait for a hint ends with the task that waits`() async throws {
        let kernel = try Kernel()
        let monitor = kernel.makeMonitor()
        let waiting = Task {
            var count = 0
            for await _ in monitor.changes() { count += 1 }
            return count
        }
        try await eventually("it listens", following: Turns(of: kernel.loop)) { kernel.opened == 1 }
        waiting.cancel()
        #expect(await waiting.value <= 1)
        try await eventually("all is closed", following: Turns(of: kernel.loop)) {
            !monitor.isRunning && kernel.loop.ledger.openChannels == 0
        }
    }

    @Test(.rows("RE-15")) func `the link monitor compares pictures where the kernel tells of no changes`() async throws
    {
        let kernel = try Kernel(refuses: true)
        let monitor = kernel.makeMonitor()
        var hints: AsyncStream<Void>.Iterator? = monitor.changes().makeAsyncIterator()
        await hints?.next()
        #expect(kernel.pictures >= 1)
        hints = nil
        try await eventually("nothing is left", following: Turns(of: kernel.loop)) {
            kernel.loop.ledger.openTimers == 0
        }
    }

    @Test func `the link monitor hears the kernel itself`() async throws {
        let monitor = LinkMonitor()
        let stream = monitor.changes()
        var hints = stream.makeAsyncIterator()
        await hints.next()
        let finding = RouteFinder().finding(for: .v4(0x7F00_0001, port: 80))
        #expect(finding.way == .local && finding.interface?.kind == .loopback)
    }
}
