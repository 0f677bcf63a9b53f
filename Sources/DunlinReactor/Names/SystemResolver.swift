public import DunlinTypes
internal import Glibc
internal import Synchronization

/// Looks up names by getaddrinfo, on a limited number of threads of its own: neither a loop nor the cooperative pool
/// ever waits for it.
public final class SystemResolver: Resolver {
    public static let shared = SystemResolver()

    typealias Answer = Result<[HTTP.SocketAddress], ResolverError>

    private struct State {
        var machine: ResolverMachine<ValueWaiter<Answer>>
        var nextID: UInt64 = 0
    }

    private let state: Mutex<State>
    private let backlog: Int

    /// At most `threads` look-ups run at once, and `backlog` names wait; a further one fails at once.
    public init(threads: Int = 8, backlog: Int = 1024) {
        state = Mutex(State(machine: ResolverMachine(threads: threads, backlog: backlog)))
        self.backlog = backlog
    }

    public func addresses(of host: String, port: UInt16) async throws -> [HTTP.SocketAddress] {
        let waiter = ValueWaiter<Answer>(on: try ReactorGroup.shared.reactors()[0])
        let (id, action) = state.withLock { state in
            state.nextID += 1
            return (state.nextID, state.machine.ask(host, state.nextID, waiter))
        }
        switch action {
        case .wait: break
        case .startThread: startThread()
        case .refuse:
            throw ResolverError(
                .overloaded,
                "\(backlog) names wait to be looked up, a fixed limit; send fewer requests at once, or set `resolver`")
        }
        let outcome = await withTaskCancellationHandler {
            await waiter.wait(until: .never, cancellation: nil)
        } onCancel: {
            waiter.cancel()
        }
        guard case .value(let answer) = outcome else {
            state.withLock { $0.machine.forget(host, id) }
            throw CancellationError()
        }
        return try answer.get().map { $0.withPort(port) }
    }

    private func startThread() {
        do throws(Errno) {
            try SystemThread.start(name: "dunlin-names") { self.work() }
        } catch {
            let failure = ResolverError(.unanswered, "the thread for name look-ups cannot be started: \(error)")
            for waiter in state.withLock({ $0.machine.threadFailed() }) { _ = waiter.deliver(.failure(failure)) }
        }
    }

    private func work() {
        while let name = state.withLock({ $0.machine.next() }) {
            let answer = Self.lookUp(name)
            for waiter in state.withLock({ $0.machine.answered(name) }) { _ = waiter.deliver(answer) }
        }
    }

    /// How many descriptors the C library has open at once at most: a file, and sockets to ask with and to be asked
    /// again.
    private static let descriptorsNeeded = 4

    private static func lookUp(_ host: String) -> Answer {
        var hints = addrinfo()
        hints.ai_socktype = Int32(SOCK_STREAM.rawValue)
        hints.ai_flags = AI_ADDRCONFIG
        var list: UnsafeMutablePointer<addrinfo>?
        let code = getaddrinfo(host, nil, &hints, &list)
        guard code == 0 else {
            let failure = Errno.last
            return .failure(.lookUp(code, failure, shortage: Descriptor.shortage(of: Self.descriptorsNeeded)))
        }
        defer { freeaddrinfo(list) }
        var addresses: [HTTP.SocketAddress] = []
        var entry = list
        while let current = entry {
            if let address = current.pointee.ai_addr.flatMap({ HTTP.SocketAddress(kernel: $0) }),
                !addresses.contains(address)
            {
                addresses.append(address)
            }
            entry = current.pointee.ai_next
        }
        return .success(addresses)
    }
}

extension ResolverError {
    /// EAI_NODATA, a GNU extension that the Glibc module leaves out: the name exists and has no address.
    private static let noData: Int32 = -5

    /// The error for a failure of getaddrinfo. Without a descriptor the C library can neither read a file nor ask a
    /// server, and says that there is no such name. No server has said so, and it must not be kept.
    static func lookUp(_ code: Int32, _ failure: Errno, shortage: Errno?) -> ResolverError {
        if let shortage {
            return ResolverError(
                .unanswered,
                "no file descriptor is free for the name look-up: \(shortage); "
                    + "raise the limit of open files (ulimit -n)"
            )
        }
        let reason = code == EAI_SYSTEM ? "\(failure)" : String(cString: gai_strerror(code))
        return ResolverError(code == EAI_NONAME || code == noData ? .noSuchName : .unanswered, reason)
    }
}

extension HTTP.SocketAddress {
    func withPort(_ port: UInt16) -> HTTP.SocketAddress {
        switch self {
        case .v4(let address, _): .v4(address, port: port)
        case .v6(let high, let low, _, let scope): .v6(high, low, port: port, scope: scope)
        case .unix: self
        }
    }
}
