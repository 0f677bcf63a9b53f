internal import DunlinTypes

/// Tells that something about the network may have changed: a link, an address, a route, a rule.
///
/// Rules:
/// 1. Begun by the first who watches, ended by the last who leaves. In between it waits on a socket that the kernel
///    writes to when there is news: no timer, and no wake-up while nothing happens.
/// 2. What it tells is a hint and carries nothing. Whoever hears it asks the kernel what is true now. So no message
///    that was lost, cut short or forged makes anybody believe what is not so.
/// 3. The first hint comes once the kernel is being listened to: what is asked after it misses nothing.
/// 4. News that come together are one hint, and hints are at least 50 ms apart: a machine that makes routes all day
///    costs its watchers 20 questions a second and no more. Nor does it keep the loop: what is read at once is bounded.
/// 5. When the kernel had more news than the socket held, or the socket broke, another takes its place, and that is a
///    hint too.
/// 6. Where there is no netlink, as in some containers, what /proc says of routes and /sys of links is compared every
///    5 seconds. That is the only timer, and it goes on only while somebody watches.
public final class LinkMonitor: Sendable {
    /// The process's own; there is no use for a second but in tests.
    public static let shared = LinkMonitor()

    package static let pause: Int64 = 50_000_000
    package static let pollInterval: Int64 = 5_000_000_000

    private let run = SharedWatch<LinkWatch>()
    private let source: LinkSource

    public convenience init() {
        self.init(source: LinkSource())
    }

    package init(source: LinkSource) {
        self.source = source
    }

    /// Hints from now on: one at once, and one after whatever changes. Whoever is busy meanwhile gets one for all.
    public func changes() -> AsyncStream<Void> {
        let watch = watch()
        // Nothing has been heard at version 0: the first hint is the next.
        return AsyncStream(knowing: 0) { version in
            await watch?.bulletin.value(after: version)?.version
        } tell: { known, version in
            known = version
        }
    }

    /// Whether somebody watches.
    package var isRunning: Bool { run.isObserved }

    private func watch() -> LinkWatch? {
        // Made before the lock is taken, for that starts threads if there are none.
        guard let loop = source.loop() else { return nil }
        return run.join { LinkWatch(source, on: loop) }
    }
}

/// Where a monitor hears of changes.
package struct LinkSource: Sendable {
    /// Nil if there is none to be had.
    package var loop: @Sendable () -> Reactor?
    package var open: @Sendable () throws(Errno) -> OpenLinkSource
    /// What is compared where nothing can be opened.
    package var picture: @Sendable () -> LinkPicture

    package init(
        loop: @escaping @Sendable () -> Reactor?, open: @escaping @Sendable () throws(Errno) -> OpenLinkSource,
        picture: @escaping @Sendable () -> LinkPicture
    ) {
        self.loop = loop
        self.open = open
        self.picture = picture
    }

    /// The kernel's.
    package init() {
        self.init(
            loop: {
                do { return try ReactorGroup.shared.reactors().first } catch { return nil }
            },
            open: { () throws(Errno) in OpenLinkSource(try .ofNetworkChanges()) }, picture: { .taken() })
    }
}

/// A socket on its way into a channel: closures cannot give what cannot be copied otherwise.
package struct OpenLinkSource: ~Copyable, Sendable {
    fileprivate let socket: Socket

    package init(_ socket: consuming Socket) {
        self.socket = socket
    }

    fileprivate consuming func channel(on loop: Reactor) throws(Errno) -> Channel {
        try Channel(socket, on: loop, inTurn: true)
    }
}

/// One run of a monitor: held by those who watch, ends with the last of them.
final class LinkWatch: Sendable {
    /// Counts the hints.
    let bulletin: ObservableValue<UInt64>
    private let listening: Task<Void, Never>

    init(_ source: LinkSource, on loop: Reactor) {
        let bulletin = ObservableValue<UInt64>(0, on: loop)
        self.bulletin = bulletin
        // Holds what it tells, not who is told: it is cancelled when they are gone.
        listening = Task(executorPreference: loop) {
            await LinkListener(source: source, loop: loop, bulletin: bulletin).run()
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
    let bulletin: ObservableValue<UInt64>

    private func hint() {
        bulletin.change { $0 &+= 1 }
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
            // Not at once: what broke may break again.
            _ = await loop.rest(nanoseconds: LinkMonitor.pause)
        }
    }

    /// Returns when the channel is of no more use, or nobody wants to know any more.
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

    /// Whether there was news in what the socket had; nil when it is over.
    private func takeAll(from channel: Channel) -> Bool? {
        do throws(Errno) {
            return try NetlinkNews.taken { bytes throws(Errno) in
                try channel.read(into: &bytes, upTo: Socket.netlinkCapacity)
            }
        } catch {
            // ENOBUFS: the kernel had more to say than there was room for.
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
