internal import DunlinReactor
internal import DunlinTypes
internal import Synchronization

/// A session's cache of addresses, which asks the resolver, caches its answers and shares them.
///
/// The rules are in `NameCacheMachine`; this class adds the lock, the waiting and the questions. A look-up does not
/// belong to its waiters, and one that refreshes an address has none. So look-ups are children of a task of the
/// session's own, which starts with the first look-up, is ended and awaited by `close()`, and is cancelled when the
/// last reference is released.
final class NameCache: Sendable {
    typealias Machine = NameCacheMachine<ValueWaiter<NameAnswer>>

    enum Failure: Error {
        case timedOut
        case cancelled
        case unresolved(any Error)
    }

    private struct Order: Sendable {
        let name: Machine.Name
        let lookUp: UInt64
        let cancellation = Cancellation()
    }

    private struct State {
        var machine: Machine
        var worker: Task<Void, Never>?
        /// Whether the worker has done all its work, and who waits for that.
        var isDone = false
        var endWaiters: [ValueWaiter<Void>] = []
        /// The cancellations of the running look-ups.
        var switches: [UInt64: Cancellation] = [:]
        var turns = Turns()
    }

    private let resolver: any Resolver
    private let reactor: Reactor
    /// The time limit of a look-up, in nanoseconds.
    private let limit: Int64
    private let state: Mutex<State>
    private let orders = AsyncStream.makeStream(of: Order.self)

    init(_ resolver: any Resolver, limits: Machine.Limits, lookUpLimit: Int64, on reactor: Reactor) {
        self.resolver = resolver
        self.reactor = reactor
        limit = lookUpLimit
        state = Mutex(State(machine: Machine(limits: limits)))
    }

    convenience init(_ options: SocketTransport.Options, on reactor: Reactor) {
        let limits = Machine.Limits(
            timeToLive: options.nameLife.clampedNanoseconds,
            negativeTimeToLive: options.missingNameLife.clampedNanoseconds, capacity: options.nameCapacity)
        let lookUpLimit = options.lookUpTime?.clampedNanoseconds ?? .max
        self.init(options.resolver, limits: limits, lookUpLimit: lookUpLimit, on: reactor)
    }

    deinit {
        orders.continuation.finish()
        state.withLock { $0.worker }?.cancel()
    }

    /// The addresses of a name, at once if they are cached.
    func addresses(
        of host: String, port: UInt16, until deadline: HTTP.Instant, _ cancellation: Cancellation, on loop: Reactor
    ) async throws(Failure) -> [HTTP.SocketAddress] {
        let name = Machine.Name(host: host, port: port)
        switch ask(name, on: loop) {
        case .answer(let answer), .answerAndRefresh(let answer, _): return try Self.addresses(answer)
        case .wait(let waiter, let position), .lookUp(let waiter, let position):
            return try await wait(waiter, position, until: deadline, cancellation)
        case .refuse: throw .unresolved(Self.closed)
        }
    }

    private func wait(
        _ waiter: ValueWaiter<NameAnswer>, _ position: Machine.Position, until deadline: HTTP.Instant,
        _ cancellation: Cancellation
    ) async throws(Failure) -> [HTTP.SocketAddress] {
        switch await waiter.wait(until: deadline, cancellation: cancellation) {
        case .value(let answer): return try Self.addresses(answer)
        case .timedOut: throw leave(position, .timedOut)
        case .cancelled: throw leave(position, .cancelled)
        }
    }

    /// The number of connections opened to a name before this one.
    func nextTurn(of host: String) -> Int {
        state.withLock { $0.turns.next(for: host) }
    }

    /// Discards every answer, so that names are looked up again.
    func flush() {
        state.withLock { $0.machine.flush() }
    }

    /// Cancels the running look-ups and waits for their end, unless the awaiting task is cancelled: a resolver may
    /// ignore its cancellation.
    func close() async {
        let (end, cancellation) = (ValueWaiter<Void>(on: reactor), Cancellation())
        let (waiters, worker) = state.withLock { state in
            let worker = state.isDone ? nil : state.worker
            if worker != nil { state.endWaiters.append(end) }
            return (state.machine.close(), worker)
        }
        for waiter in waiters { _ = waiter.deliver(.failed(Self.closed)) }
        orders.continuation.finish()
        guard let worker else { return }
        worker.cancel()
        await withTaskCancellationHandler {
            if case .value = await end.wait(until: .never, cancellation: cancellation) { await worker.value }
        } onCancel: {
            cancellation.cancel(.task)
        }
    }

    private func workerIsDone() {
        let endWaiters = state.withLock { state in
            defer { (state.isDone, state.endWaiters) = (true, []) }
            return state.endWaiters
        }
        for endWaiter in endWaiters { _ = endWaiter.deliver(()) }
    }

    /// The number of cached names, and of running look-ups.
    var counts: (known: Int, lookUps: Int) {
        state.withLock { ($0.machine.count, $0.machine.lookUpCount) }
    }

    private static let closed = ResolverError(.unanswered, "the session is shut down")

    private static func addresses(_ answer: NameAnswer) throws(Failure) -> [HTTP.SocketAddress] {
        switch answer {
        case .addresses(let addresses): return addresses
        case .noSuchName(let error), .failed(let error): throw .unresolved(error)
        case .ranOut: throw .timedOut
        }
    }
}

// MARK: - Asking

extension NameCache {
    private func ask(_ name: Machine.Name, on loop: Reactor) -> Machine.AskAction {
        let now = loop.now()
        let (action, order) = state.withLock { state in
            let action = state.machine.ask(name, at: now) { ValueWaiter(on: loop) }
            return (action, begun(name, action, &state))
        }
        if let order { orders.continuation.yield(order) }
        return action
    }

    /// The look-up to start; nil if the machine does not ask for one.
    private func begun(_ name: Machine.Name, _ action: Machine.AskAction, _ state: inout State) -> Order? {
        let number: UInt64
        switch action {
        case .answerAndRefresh(_, let lookUp): number = lookUp
        case .lookUp(_, let position): number = position.lookUp
        case .answer, .wait, .refuse: return nil
        }
        let order = Order(name: name, lookUp: number)
        state.switches[number] = order.cancellation
        if state.worker == nil { state.worker = startWorker() }
        return order
    }

    private func leave(_ position: Machine.Position, _ failure: Failure) -> Failure {
        let unneeded = state.withLock { state in
            state.machine.leave(position) ? state.switches.removeValue(forKey: position.lookUp) : nil
        }
        unneeded?.cancel(.handle)
        return failure
    }
}

// MARK: - Looking up

extension NameCache {
    private func startWorker() -> Task<Void, Never> {
        // The task runs on the loop, as the waiters do; only the resolver itself runs elsewhere. It is detached because
        // it outlives the request that begins it, and must not retain what belongs to that.
        Task.detached(executorPreference: reactor) { [weak self, resolver, reactor, limit, stream = orders.stream] in
            await withDiscardingTaskGroup { group in
                for await order in stream {
                    // Look-ups do not retain the cache: releasing a session cancels its look-ups.
                    group.addTask { [weak self] in
                        repeat {
                            let answer = await Self.lookUp(order, resolver, until: limit, on: reactor)
                            guard self?.ended(order, answer) == .again else { return }
                        } while !Task.isCancelled
                    }
                }
            }
            self?.workerIsDone()
        }
    }

    private static func lookUp(
        _ order: Order, _ resolver: any Resolver, until limit: Int64, on reactor: Reactor
    ) async -> NameAnswer {
        let (host, port) = (order.name.host, order.name.port)
        do {
            let deadline = reactor.now().advanced(by: limit)
            let found = try await Race.run(until: deadline, order.cancellation, on: reactor) {
                try await resolver.addresses(of: host, port: port)
            }
            if found.isEmpty { return .noSuchName(ResolverError(.noSuchName, "\(host) has no address")) }
            return .addresses(AddressOrder.kept(found))
        } catch Race.Lost.timedOut {
            return .ranOut
        } catch let error as ResolverError where error.kind == .noSuchName {
            return .noSuchName(error)
        } catch {
            return .failed(error)
        }
    }

    private enum Next {
        case over
        case again
    }

    private func ended(_ order: Order, _ answer: NameAnswer) -> Next {
        let now = reactor.now()
        let action = state.withLock { state in
            let action = state.machine.ended(order.lookUp, answer, at: now)
            if case .deliver = action { state.switches[order.lookUp] = nil }
            return action
        }
        switch action {
        case .again: return .again
        case .deliver(let waiters):
            for waiter in waiters { _ = waiter.deliver(answer) }
            return .over
        }
    }
}
