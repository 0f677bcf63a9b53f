internal import CEpoll
public import DunlinTypes
internal import Synchronization

/// A socket on a loop: tries at once, and waits when the kernel has nothing.
///
/// One owner reads and writes at a time; anybody may cancel or close. The descriptor itself is closed when the last
/// reference goes, so no thread ever touches a number that already means another socket.
public final class Channel: Sendable {
    @usableFromInline typealias Waiter = UnsafeContinuation<Wake, Never>

    // What each request touches comes first: with thousands of channels every cache line of one is read anew.
    private let machine: Mutex<ChannelMachine<Waiter>>
    private let socket: Socket
    /// Where the loop finds this channel; set once, before anybody can wait.
    private let token = Atomic<UInt64>(Slots.none)
    /// When an owner last saw that nothing was left, by `Reactor.lookTime`.
    private let lastLook = Atomic<Int64>(0)
    public let reactor: Reactor
    /// Process-wide and never used twice.
    public let id = Channel.ids.add(1, ordering: .relaxed).newValue
    private static let ids = Atomic<UInt64>(0)
    /// Where to tell that something came while nobody owned the channel.
    private let unsolicited: AsyncStream<UInt64>.Continuation?
    private let hasNews = Atomic<Bool>(false)

    /// The turn that a channel made `inTurn` begins with.
    public static let firstTurn: UInt64 = 1

    /// Puts a socket on a loop. Whoever holds the channel must close it. Its `id` is yielded to `unsolicited` when
    /// input or its end comes between turns; a channel made `inTurn` has an owner at once.
    public init(
        _ socket: consuming Socket, on reactor: Reactor, unsolicited: AsyncStream<UInt64>.Continuation? = nil,
        inTurn: Bool = false
    ) throws(Errno) {
        machine = Mutex(ChannelMachine(inTurn: inTurn))
        self.reactor = reactor
        self.unsolicited = unsolicited
        self.socket = socket
        let token = reactor.register(self)
        self.token.store(token, ordering: .relaxed)
        do throws(Errno) {
            try reactor.watch(self.socket.descriptor, token: token)
        } catch {
            reactor.forget(token)
            throw error
        }
    }

    /// Up to `capacity` bytes, empty at end of stream, nil when there is none yet.
    public func read(upTo capacity: Int) throws(Errno) -> [UInt8]? {
        var bytes: [UInt8] = []
        return try read(into: &bytes, upTo: capacity) ? bytes : nil
    }

    /// The same into `bytes`, in the memory they have if nobody else holds it; false when there is none yet.
    public func read(into bytes: inout [UInt8], upTo capacity: Int) throws(Errno) -> Bool {
        bytes.removeAll(keepingCapacity: true)
        return try read(appendingTo: &bytes, upTo: capacity)
    }

    /// The same behind what is in `bytes` already.
    @inline(__always)
    public func read(appendingTo bytes: inout [UInt8], upTo capacity: Int) throws(Errno) -> Bool {
        let (before, start) = (bytes.count, Reactor.lookTime)
        let isThere = try socket.read(appendingTo: &bytes, upTo: capacity)
        // A read that comes back with less has left nothing. What comes while it is on its way back is not included.
        if bytes.count - before < capacity { lastLook.store(start.nanoseconds, ordering: .relaxed) }
        return isThere
    }

    /// Waits for input end only when so many bytes are there, or the stream has ended.
    public func setLowWater(_ count: Int) throws(Errno) {
        try socket.setLowWater(count)
    }

    /// Bytes the kernel took, nil when it takes none now. If `more` follows at once, the last segment waits for it.
    public func write(_ bytes: UnsafeRawBufferPointer, more: Bool = false) throws(Errno) -> Int? {
        try socket.write(bytes, more: more)
    }

    /// Bytes of the file the kernel took, zero at its end, nil when it takes none now.
    public func sendFile(_ file: OpenFile, from offset: Int, count: Int) throws(Errno) -> Int? {
        try socket.sendFile(file, from: offset, count: count)
    }

    /// Whether the peer has ended its side, or the connection is broken, as the kernel knows it now: whatever there is
    /// still to read, and whatever the loop has seen.
    public func inputHasEnded() -> Bool {
        socket.inputHasEnded()
    }

    /// The error a connect ended with, if it failed. The kernel is asked only if the loop saw an end: a connect that
    /// succeeded is writable and nothing else.
    public func pendingError() throws(Errno) {
        guard machine.withLock({ $0.inputHasEnded }) else { return }
        try socket.pendingError()
    }

    /// What is set on the socket, for tests.
    package func socketOptions() throws(Errno) -> HTTP.SocketOptions {
        try socket.options()
    }

    /// How much input the socket waits for, for tests.
    package func lowWater() throws(Errno) -> Int {
        try socket.lowWater()
    }

    /// Starts a turn for a new owner; nil if the channel is no longer fit for one: closed, ended by the peer, or with
    /// bytes that nobody asked for. If nobody has looked a moment ago, this does.
    public func beginTurn() -> UInt64? {
        // The loop says when it polled after it has passed on what it found: read before the machine is asked.
        let polled = reactor.lastPoll.load(ordering: .acquiring)
        var lastLook = MonotonicTime(nanoseconds: max(polled, lastLook.load(ordering: .relaxed)))
        let now = Reactor.lookTime
        while true {
            switch machine.withLock({ $0.beginTurn(lastLook: lastLook, at: now) }) {
            case .turn(let turn): return turn
            case .closed: return nil
            case .unseenInput:
                guard isStillSilent() else { return nil }
                lastLook = now
            }
        }
    }

    /// Ends the owner's turn; false if the channel is not fit for another.
    public func endTurn() -> Bool {
        machine.withLock { $0.endTurn() } || isStillSilent()
    }

    /// Something came between turns, once at least; whether it matters only a look can tell. For whoever must be sure
    /// that the announcement did not come before there was anybody to hear it.
    public var wasAnnounced: Bool { hasNews.load(ordering: .relaxed) }

    /// An edge came while nobody asked. It may be the tail of what was read already: look without taking.
    ///
    /// The edge is forgotten before the look, not after it: one that comes in between must not go with the old one.
    public func isStillSilent() -> Bool {
        guard token.load(ordering: .relaxed) != Slots.none else { return false }
        hasNews.store(false, ordering: .relaxed)
        machine.withLock { $0.clearUnseenInput() }
        let start = Reactor.lookTime
        if socket.peek() == .silent {
            lastLook.store(start.nanoseconds, ordering: .relaxed)
            return true
        }
        machine.withLock { $0.keepUnseenInput() }
        return false
    }

    /// Bounds the wait for input in this turn, the one underway too.
    public func limitReading(until limit: MonotonicTime) {
        guard machine.withLock({ $0.limitReading(until: limit) }) else { return }
        reactor.schedule(token.load(ordering: .relaxed), at: limit)
    }

    /// Nothing more is written in this turn: a writer that waits is sent home.
    public func stopWriting() {
        machine.withLock { $0.stopWriting() }?.resume(returning: .cancelled)
    }

    @inlinable @inline(__always)
    public func waitReadable(until deadline: MonotonicTime) async -> Wake {
        await withUnsafeContinuation { parkReader($0, until: deadline) }
    }

    public func waitWritable(until deadline: MonotonicTime) async -> Wake {
        await withUnsafeContinuation { park($0, for: .writing, until: deadline) }
    }

    @usableFromInline func parkReader(_ waiter: Waiter, until deadline: MonotonicTime) {
        park(waiter, for: .reading, until: deadline)
    }

    private func park(
        _ waiter: Waiter, for direction: ChannelMachine<Waiter>.Direction, until deadline: MonotonicTime
    ) {
        switch machine.withLock({ $0.wait(waiter, for: direction, until: deadline) }) {
        case .parked: break
        case .parkedAndScheduled(let time): reactor.schedule(token.load(ordering: .relaxed), at: time)
        case .resume(let waiter, let wake): waiter.resume(returning: wake)
        }
    }

    /// Ends the waits of this turn, now and later; nothing happens if the turn is over. Safe from any thread.
    public func cancel(turn: UInt64) {
        wake(machine.withLock { $0.cancel(turn: turn) }, .cancelled)
    }

    /// Takes the channel off its loop. Waits end; the descriptor goes with the last reference.
    public func close() {
        let token = token.exchange(Slots.none, ordering: .relaxed)
        wake(machine.withLock { $0.close() }, .closed)
        if token != Slots.none { reactor.forget(token) }
    }

    /// Whether somebody waits, and not for ever.
    var hasDeadline: Bool { machine.withLock { $0.hasDeadline } }

    /// The loop saw events on the descriptor.
    func becameReady(_ events: UInt32) {
        let ended = dunlin_epollhup | dunlin_epollerr
        let inputEnded = events & (dunlin_epollrdhup | ended) != 0
        let reading = inputEnded || events & dunlin_epollin != 0
        let writing = events & (dunlin_epollout | ended) != 0
        let wakes = machine.withLock {
            $0.becameReady(reading: reading, writing: writing, inputEnded: inputEnded)
        }
        wake(wakes, .ready)
        if wakes.isUnsolicited {
            hasNews.store(true, ordering: .relaxed)
            unsolicited?.yield(id)
        }
    }

    /// The loop's clock reached the time it was told to look; returns when to look again.
    func deadlinePassed(at now: MonotonicTime) -> MonotonicTime {
        let expiry = machine.withLock { $0.deadlinePassed(at: now) }
        wake(expiry.wakes, .timedOut)
        return expiry.next
    }

    private func wake(_ wakes: ChannelMachine<Waiter>.Wakes, _ reason: Wake) {
        wakes.reading?.resume(returning: reason)
        wakes.writing?.resume(returning: reason)
    }
}
