internal import CEpoll
internal import DunlinTypes
internal import Glibc
internal import Synchronization

/// A few threads for work that waits for disks: neither a loop nor the cooperative pool ever does.
///
/// They are shared by the whole process, started when first needed, and end when there has been no work for a while.
/// Work is a closure that does not suspend, so that no code of the user's, and no actor, ever runs here: that is why
/// this is no task executor. Work that has begun is not cancelled.
public final class DiskThreads: Sendable {
    public static let shared = DiskThreads()

    public typealias Work = @Sendable () -> Void

    private let machine: Mutex<DiskMachine<Work, ThreadWaker>>
    private let longestWait: Int32
    /// The amount of work done, for the thread sanitizer only: when a continuation was resumed before it is awaited,
    /// the runtime gives it no sign, and this is the sign.
    private let done = Atomic<UInt>(0)

    /// Creates a pool of at most `threads` threads, each of which ends after `longestWait` without work.
    public init(threads: Int = 8, longestWait: Duration = .seconds(2)) {
        machine = Mutex(DiskMachine(limit: max(1, threads)))
        self.longestWait = Int32(clamping: longestWait.clampedNanoseconds / 1_000_000)
    }

    /// Returns the outcome of `work`, which runs to its end even if the waiting task is cancelled.
    public func run<Value: Sendable>(_ work: @escaping @Sendable () -> Value) async -> Value {
        await run(work) { start($0) }
    }

    /// The same of work that `begin` sees to: it has one of these threads do it, now or later.
    package func run<Value: Sendable>(
        _ work: @escaping @Sendable () -> Value, by begin: (@escaping Work) -> Void
    ) async -> Value {
        let value = await withUnsafeContinuation { continuation in
            begin {
                let value = work()
                self.done.add(1, ordering: .releasing)
                continuation.resume(returning: value)
            }
        }
        _ = done.load(ordering: .acquiring)
        return value
    }

    /// Returns the result of `work` that may throw; it runs to its end even if the waiting task is cancelled.
    public func run<Value: Sendable>(
        _ work: @escaping @Sendable () throws(Errno) -> Value
    ) async throws(Errno) -> Value {
        let outcome: Result<Value, Errno> = await run {
            do throws(Errno) { return .success(try work()) } catch { return .failure(error) }
        }
        return try outcome.get()
    }

    /// Starts `work` without waiting for it.
    public func start(_ work: @escaping Work) {
        switch machine.withLock({ $0.add(work) }) {
        case .none: break
        case .wake(let waker): waker.wake()
        case .startThread: startThread()
        }
    }

    /// The number of threads, at work or resting.
    package var count: Int { machine.withLock { $0.threads } }

    private func startThread() {
        do throws(Errno) {
            let waker = try ThreadWaker()
            try SystemThread.start(name: "dunlin-disk") { self.work(waker) }
        } catch {
            // Without any thread the work is done here.
            for work in machine.withLock({ $0.startFailed() }) { work() }
        }
    }

    private func work(_ waker: ThreadWaker) {
        Self.blockSignals()
        while true {
            while let work = machine.withLock({ $0.next(for: waker) }) { work() }
            if !waker.wait(milliseconds: longestWait), machine.withLock({ $0.mayLeave(waker) }) { return }
        }
    }

    /// Blocks signals, which are for the program's own threads. And a write beyond the limit of file sizes must be an
    /// error here, not a SIGXFSZ that ends the process.
    private static func blockSignals() {
        var all = sigset_t()
        sigfillset(&all)
        pthread_sigmask(SIG_SETMASK, &all, nil)
    }
}

/// Wakes one thread. Whoever wakes it keeps a reference meanwhile, so its descriptor is not yet reused.
private final class ThreadWaker: Sendable, Equatable {
    private let descriptor: Int32

    init() throws(Errno) {
        descriptor = dunlin_eventfd()
        guard descriptor >= 0 else { throw Errno.last }
    }

    deinit {
        close(descriptor)
    }

    func wake() {
        var one: UInt64 = 1
        _ = write(descriptor, &one, MemoryLayout<UInt64>.size)
    }

    /// Waits for a ring; returns false if there was none in time.
    func wait(milliseconds: Int32) -> Bool {
        var entry = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
        guard poll(&entry, 1, milliseconds) > 0 else { return false }
        var count: UInt64 = 0
        _ = read(descriptor, &count, MemoryLayout<UInt64>.size)
        return true
    }

    static func == (left: ThreadWaker, right: ThreadWaker) -> Bool { left === right }
}
