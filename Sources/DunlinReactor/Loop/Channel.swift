internal import CEpoll
public import DunlinTypes
internal import Synchronization

/// A socket on a loop: tries at once, and waits when the kernel has nothing.
///
/// One owner reads and writes at a time; anybody may cancel or close. The descriptor itself is closed with the last
/// reference, so no thread ever uses a number that belongs to another socket by then.
public final class Channel: Sendable {
    @usableFromInline typealias Waiter = UnsafeContinuation<Wake, Never>

    // The properties that each request uses come first: with thousands of channels each cache line of one is read anew.
    private let machine: Mutex<ChannelMachine<Waiter>>
    private let socket: Socket
    /// The loop's number for this channel; set once, before anybody can wait.
    private let token = Atomic<UInt64>(Slots.none)
    /// When an owner last saw that no input was left, by `Reactor.lookTime`.
    private let lastLook = Atomic<Int64>(0)
    public let reactor: Reactor
    /// Unique in the process; never used twice.
    public let id = Channel.ids.add(1, ordering: .relaxed).newValue
    private static let ids = Atomic<UInt64>(0)
    /// The stream that announces input while nobody owned the channel.
    private let unsolicited: AsyncStream<UInt64>.Continuation?
    private let hasNews = Atomic<Bool>(false)

    /// The turn that a channel made `inTurn` begins with.
    public static let firstTurn: UInt64 = 1

    /// Puts a socket on a loop. The owner of the channel must close it. Its `id` is yielded to `unsolicited` when input
    /// or its end comes between turns; a channel made `inTurn` has an owner at once.
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
            try reactor.register(self.socket.descriptor, token: token)
        } catch {
            reactor.forget(token)
            throw error
        }
    }

    /// Reads up to `capacity` bytes: empty at the end of the stream, nil when there are none yet.
    public func read(upTo capacity: Int) throws(Errno) -> [UInt8]? {
        var bytes: [UInt8] = []
        return try read(into: &bytes, upTo: capacity) ? bytes : nil
    }

    /// Reads into `bytes`, into the same memory if nobody else uses it; false when there is nothing yet.
    public func read(into bytes: inout [UInt8], upTo capacity: Int) throws(Errno) -> Bool {
        bytes.removeAll(keepingCapacity: true)
        return try read(appendingTo: &bytes, upTo: capacity)
    }

    /// Reads up to `capacity` bytes behind those in `bytes`.
    @inline(__always)
    public func read(appendingTo bytes: inout [UInt8], upTo capacity: Int) throws(Errno) -> Bool {
        let (before, start) = (bytes.count, Reactor.lookTime)
        let isThere = try socket.read(appendingTo: &bytes, upTo: capacity)
        // A read that returns less has left nothing. What comes while it returns is not included.
        if bytes.count - before < capacity { lastLook.store(start.nanoseconds, ordering: .relaxed) }
        return isThere
    }

    /// Sets how many bytes must be there to end a wait for input; the end of the stream ends it too.
    public func setLowWater(_ count: Int) throws(Errno) {
        try socket.setLowWater(count)
    }

    /// Writes. Returns the bytes that the kernel took, nil when it takes none now. If `more` follows at once, the last
    /// segment waits for it.
    public func write(_ bytes: UnsafeRawBufferPointer, more: Bool = false) throws(Errno) -> Int? {
        try socket.write(bytes, more: more)
    }

    /// Sends from the file. Returns the bytes that the kernel took, zero at the file's end, nil when it takes none now.
    public func sendFile(_ file: OpenFile, from offset: Int, count: Int) throws(Errno) -> Int? {
        try socket.sendFile(file, from: offset, count: count)
    }

    /// Ends the stream of what is written; reading goes on.
    public func endWriting() throws(Errno) {
        try socket.endWriting()
    }

    /// Whether the peer has ended its side, or the connection is broken, as the kernel knows it now; whatever is still
    /// to be read, and whatever the loop has seen.
    public func inputHasEnded() -> Bool {
        socket.inputHasEnded()
    }

    /// Throws the error of a connect that failed. The kernel is asked only if the loop saw an end: a connect that
    /// succeeded is writable and nothing else.
    public func pendingError() throws(Errno) {
        guard machine.withLock({ $0.inputHasEnded }) else { return }
        try socket.pendingError()
    }

    /// The options that are set on the socket, for tests.
    package func socketOptions() throws(Errno) -> HTTP.SocketOptions {
        try socket.options()
    }

    /// The low-water mark of the socket, for tests.
    package func lowWater() throws(Errno) -> Int {
        try socket.lowWater()
    }

    /// Starts a turn for a new owner; nil if the channel is no longer fit for one: closed, ended by the peer, or with
    /// bytes that nobody asked for. If nobody has looked a moment ago, this has the loop look, or looks itself.
    public func beginTurn() -> UInt64? {
        var seen = lastSeen
        let now = Reactor.lookTime
        var hasPolled = false
        while true {
            switch machine.withLock({ $0.beginTurn(lastLook: seen, at: now) }) {
            case .turn(let turn): return turn
            case .closed: return nil
            case .unlooked where !hasPolled:
                reactor.look()
                (seen, hasPolled) = (lastSeen, true)
            case .unlooked, .unseenInput:
                guard isStillSilent() else { return nil }
                seen = now
            }
        }
    }

    /// When the loop or an owner last looked.
    private var lastSeen: HTTP.Instant {
        // The loop notes the time of its poll after it has passed on what it found: read it before the machine is
        // asked.
        let polled = reactor.lastPoll.load(ordering: .acquiring)
        return HTTP.Instant(nanoseconds: max(polled, lastLook.load(ordering: .relaxed)))
    }

    /// Ends the owner's turn; false if the channel is not fit for another.
    public func endTurn() -> Bool {
        machine.withLock { $0.endTurn() } || isStillSilent()
    }

    /// Whether something came between turns, at least once; only a look can tell whether it matters. It is for callers
    /// who must be sure that the announcement did not come before anybody could hear it.
    public var wasAnnounced: Bool { hasNews.load(ordering: .relaxed) }

    /// Looks, without reading, whether an edge that came between turns was more than the tail of what was read already.
    ///
    /// The edge is forgotten before the look, not after it: one that comes in between must not be lost with the old
    /// one.
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

    /// Whether bytes wait to be read, as the kernel knows it now. It reads nothing, and changes nothing that the loop
    /// has seen.
    public func hasInput() -> Bool { socket.peek() == .bytes }

    /// Ends the wait for input with `.woken`, or the next one of this turn if there is none. So a reader that is woken
    /// late, after it has found out by itself what changed, only looks once more.
    public func wakeReader() {
        machine.withLock { $0.wakeReader() }?.resume(returning: .woken)
    }

    /// Ends writing in this turn: a writer that waits returns.
    public func stopWriting() {
        machine.withLock { $0.stopWriting() }?.resume(returning: .cancelled)
    }

    @inlinable @inline(__always)
    public func waitReadable(until deadline: HTTP.Instant) async -> Wake {
        await withUnsafeContinuation { beginReaderWait($0, until: deadline) }
    }

    public func waitWritable(until deadline: HTTP.Instant) async -> Wake {
        await withUnsafeContinuation { beginWait($0, for: .writing, until: deadline) }
    }

    @usableFromInline func beginReaderWait(_ waiter: Waiter, until deadline: HTTP.Instant) {
        beginWait(waiter, for: .reading, until: deadline)
    }

    private func beginWait(
        _ waiter: Waiter, for direction: ChannelMachine<Waiter>.Direction, until deadline: HTTP.Instant
    ) {
        switch machine.withLock({ $0.wait(waiter, for: direction, until: deadline) }) {
        case .waiting: break
        case .waitingAndScheduled(let time): reactor.schedule(token.load(ordering: .relaxed), at: time)
        case .resume(let waiter, let wake): waiter.resume(returning: wake)
        }
    }

    /// Cancels the waits of this turn, now and later; has no effect if the turn is over. Safe from any thread.
    public func cancel(turn: UInt64) {
        wake(machine.withLock { $0.cancel(turn: turn) }, .cancelled)
    }

    /// Takes the channel off its loop. Waits end; the descriptor is closed with the last reference.
    public func close() {
        let token = token.exchange(Slots.none, ordering: .relaxed)
        wake(machine.withLock { $0.close() }, .closed)
        if token != Slots.none { reactor.forget(token) }
    }

    /// Whether somebody waits with a deadline.
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

    /// The loop's clock has reached the time that was scheduled. Returns when to look again.
    func deadlinePassed(at now: HTTP.Instant) -> HTTP.Instant {
        let expiry = machine.withLock { $0.deadlinePassed(at: now) }
        wake(expiry.wakes, .timedOut)
        return expiry.next
    }

    private func wake(_ wakes: ChannelMachine<Waiter>.Wakes, _ reason: Wake) {
        wakes.reading?.resume(returning: reason)
        wakes.writing?.resume(returning: reason)
    }
}
