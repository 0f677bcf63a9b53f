public import Dunlin
internal import Synchronization

/// A network that a test controls, as a source for `Reachability` and for requests that wait for connectivity.
public final class ManualNetwork: Reachability.PathMonitor {
    private struct State {
        var path: Reachability.Path
        var paths: [HTTP.SocketAddress: Reachability.Path] = [:]
        var listeners: [Int: AsyncStream<Void>.Continuation] = [:]
        var lastListener = 0
        var looks = 0
    }

    private let state: Mutex<State>
    let asked = LoopbackServer.Broadcast()

    public init(_ status: Reachability.Status = .notReachable) {
        state = Mutex(State(path: Reachability.Path(status)))
    }

    /// Changes the status of the internet, and of every address without its own.
    public func change(to status: Reachability.Status) {
        change { $0.path = Reachability.Path(status) }
    }

    /// Changes the status of one address; its port is ignored.
    public func change(to status: Reachability.Status, for address: HTTP.SocketAddress) {
        change { $0.paths[address.portless] = Reachability.Path(status) }
    }

    /// Reports a change although nothing changed.
    public func hint() {
        change { _ in }
    }

    private func change(_ change: (inout State) -> Void) {
        let listeners = state.withLock { state in
            change(&state)
            return state.listeners.values
        }
        for listener in listeners { listener.yield() }
        asked.announce()
    }

    /// The number of observers of changes.
    public var listenerCount: Int { state.withLock { $0.listeners.count } }

    /// How often a path was requested.
    public var lookCount: Int { state.withLock { $0.looks } }

    public func changes() -> AsyncStream<Void> {
        let (stream, continuation) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
        let id = state.withLock { state in
            state.lastListener += 1
            state.listeners[state.lastListener] = continuation
            return state.lastListener
        }
        continuation.onTermination = { [weak self] _ in self?.forget(id) }
        continuation.yield()
        asked.announce()
        return stream
    }

    private func forget(_ id: Int) {
        state.withLock { $0.listeners[id] = nil }
        asked.announce()
    }

    public func path(to address: HTTP.SocketAddress?) async -> Reachability.Path {
        defer { asked.announce() }
        return state.withLock { state in
            state.looks += 1
            return address.flatMap { state.paths[$0.portless] } ?? state.path
        }
    }
}

extension Reachability.Path {
    /// Creates a path with this status.
    fileprivate init(_ status: Reachability.Status) {
        switch status {
        case .unknown: self = .unknown
        case .notReachable: self = .none
        case .wwan:
            self.init(flags: [.reachable, .isWWAN], interface: NetworkInterface(name: "wwan0", index: 4, kind: .wwan))
        case .wifi:
            self.init(flags: [.reachable, .isWiFi], interface: NetworkInterface(name: "wlan0", index: 3, kind: .wifi))
        case .wired:
            self.init(flags: .reachable, interface: NetworkInterface(name: "eth0", index: 2, kind: .wired))
        }
    }
}

extension HTTP.SocketAddress {
    fileprivate var portless: HTTP.SocketAddress {
        switch self {
        case .v4(let address, _): .v4(address, port: 0)
        case .v6(let high, let low, _, let scope): .v6(high, low, port: 0, scope: scope)
        case .unix: self
        }
    }
}
