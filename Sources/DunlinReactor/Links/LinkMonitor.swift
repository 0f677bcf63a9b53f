internal import DunlinTypes

/// Tells that something about the network may have changed: a link, an address, a route, a rule.
///
/// Rules:
/// 1. It is begun by the first observer and ended with the last. In between it waits on a socket that the kernel writes
///    to when there is news: no timer, and no wake-up while nothing happens.
/// 2. What it tells is a hint and carries nothing. Its observers ask the kernel what is true now. So a message that was
///    lost, cut short or forged makes nobody believe what is not so.
/// 3. The first hint comes once the monitor listens to the kernel: whoever asks after it misses nothing.
/// 4. News that come together are one hint, and hints are at least 50 ms apart: a machine that makes routes all day
///    costs its observers no more than 20 questions a second. Nor does it keep the loop: what is read at once is
///    limited.
/// 5. When the kernel had more news than the socket held, or the socket broke, another takes its place, and that is a
///    hint too.
/// 6. Where there is no netlink, as in some containers, the routes in /proc and the links in /sys are compared every 5
///    seconds. That is the only timer, and it runs only while there are observers.
public final class LinkMonitor: Sendable {
    /// The process's own monitor; only tests need a second one.
    public static let shared = LinkMonitor()

    package static let pause: Int64 = 50_000_000
    static let pollInterval: Int64 = 5_000_000_000

    private let run = SharedMonitor<LinkMonitorRun>()
    private let source: LinkSource

    public convenience init() {
        self.init(source: LinkSource())
    }

    package init(source: LinkSource) {
        self.source = source
    }

    /// Returns hints from now on: one at once, and one after each change. An observer that is busy meanwhile gets one
    /// for all.
    public func changes() -> AsyncStream<Void> {
        let joined = joinRun()
        // Version 0 is before the first hint.
        return AsyncStream(knowing: 0) { version in
            await joined?.changes.value(after: version)?.version
        } tell: { known, version in
            known = version
        }
    }

    /// Whether there are observers.
    package var isRunning: Bool { run.isObserved }

    private func joinRun() -> LinkMonitorRun? {
        // The loop is asked for before the lock is taken, because that starts threads if there are none.
        guard let loop = source.loop() else { return nil }
        return run.join { LinkMonitorRun(source, on: loop) }
    }
}

/// Where a monitor learns of changes.
package struct LinkSource: Sendable {
    /// The loop to listen on; nil if none can be started.
    package var loop: @Sendable () -> Reactor?
    package var open: @Sendable () throws(Errno) -> OpenLinkSource
    /// The state to compare where no socket can be opened.
    package var picture: @Sendable () -> LinkPicture

    package init(
        loop: @escaping @Sendable () -> Reactor?, open: @escaping @Sendable () throws(Errno) -> OpenLinkSource,
        picture: @escaping @Sendable () -> LinkPicture
    ) {
        self.loop = loop
        self.open = open
        self.picture = picture
    }

    /// The kernel as the source.
    package init() {
        self.init(
            loop: {
                do { return try ReactorGroup.shared.reactors().first } catch { return nil }
            },
            open: { () throws(Errno) in OpenLinkSource(try .ofNetworkChanges()) }, picture: { .taken() })
    }
}

/// A socket on its way into a channel. Closures cannot return it otherwise, because it cannot be copied.
package struct OpenLinkSource: ~Copyable, Sendable {
    fileprivate let socket: Socket

    package init(_ socket: consuming Socket) {
        self.socket = socket
    }

    fileprivate consuming func channel(on loop: Reactor) throws(Errno) -> Channel {
        try Channel(socket, on: loop, inTurn: true)
    }
}

/// One run of a monitor: its observers keep it, and it ends with the last of them.
final class LinkMonitorRun: Sendable {
    /// Counts the hints.
    let changes: ObservableValue<UInt64>
    private let listening: Task<Void, Never>

    init(_ source: LinkSource, on loop: Reactor) {
        let changes = ObservableValue<UInt64>(0, on: loop)
        self.changes = changes
        // The task keeps the value, not the observers: it is cancelled when they are gone.
        listening = Task.detached(executorPreference: loop) {
            await LinkListener(source: source, loop: loop, changes: changes).run()
        }
    }

    deinit {
        listening.cancel()
    }
}

/// Listens until it is cancelled.
private struct LinkListener {
    let source: LinkSource
    let loop: Reactor
    let changes: ObservableValue<UInt64>

    private func hint() {
        changes.change { $0 &+= 1 }
    }

    func run() async {
        while !Task.isCancelled {
            do throws(Errno) {
                let channel = try source.open().channel(on: loop)
                hint()
                await listen(on: channel)
                channel.close()
            } catch {
                return await compare()
            }
            // It waits first, because what broke may break again.
            _ = await loop.rest(nanoseconds: LinkMonitor.pause)
        }
    }

    /// Returns when the channel can no longer be used, or there are no observers any more.
    private func listen(on channel: Channel) async {
        await withTaskCancellationHandler {
            while await channel.waitReadable(until: .never) == .ready {
                guard let isNews = takeAll(from: channel) else { return }
                guard isNews else { continue }
                hint()
                _ = await loop.rest(nanoseconds: LinkMonitor.pause)
            }
        } onCancel: {
            channel.cancel(turn: Channel.firstTurn)
        }
    }

    /// Reads all that the socket has. Returns whether there was news; nil when the socket has ended.
    private func takeAll(from channel: Channel) -> Bool? {
        do throws(Errno) {
            return try NetlinkNews.taken { bytes throws(Errno) in
                try channel.read(into: &bytes, upTo: Socket.netlinkCapacity)
            }
        } catch {
            // ENOBUFS: the kernel had more news than there was room for.
            return nil
        }
    }

    private func compare() async {
        var known: LinkPicture?
        while !Task.isCancelled {
            let picture = await DiskThreads.shared.run(source.picture)
            if picture != known { hint() }
            known = picture
            _ = await loop.rest(nanoseconds: LinkMonitor.pollInterval)
        }
    }
}
