internal import DunlinReactor
internal import DunlinSemantics
internal import DunlinTypes

/// Begins to connect to one address, with the socket's options set.
///
/// Every connection begins here, so here the guard judges the very address that the kernel gets, once for each attempt.
struct Dialer {
    enum Result {
        case open(DialedChannel)
        case underway(DialedChannel)
        case refused(NetworkError.ConnectionFailures.Failure)
    }

    /// What the interface rules say about an address.
    enum Binding: Sendable {
        case unbound
        case interface(String)
    }

    let options: HTTP.SocketOptions
    /// The bindings by address; nil without rules.
    var interfaces: [HTTP.SocketAddress: Binding]?
    /// The guard that judges each address; nil for none.
    var guardRules: GuardRules?
    /// Whether a proxy is dialled.
    var isForProxy = false
    let reactor: Reactor
    let announcing: AsyncStream<UInt64>.Continuation

    func dial(_ address: HTTP.SocketAddress) -> Result {
        if let guardRules, let refusal = refusal(of: address, by: guardRules) {
            return .refused(.init(address: address, errno: Errno.notOurs.rawValue, reason: "\(refusal)"))
        }
        do throws(Errno) {
            let socket = try Socket(for: address)
            do throws(SocketOptionError) {
                try socket.apply(options(for: address), for: address)
            } catch {
                return .refused(.init(address: address, errno: error.errno.rawValue, reason: "\(error)"))
            }
            let state = try socket.connect(to: address)
            // The channel has an owner from the beginning: a refusal that the loop sees first must not count as
            // unsolicited input.
            let channel = try Channel(socket, on: reactor, unsolicited: announcing, inTurn: true)
            let dialed = DialedChannel(channel: channel, turn: Channel.firstTurn, address: address)
            return state == .connected ? .open(dialed) : .underway(dialed)
        } catch {
            return .refused(Self.failure(address, error))
        }
    }

    /// Why the guard refuses the first of these addresses; nil if it allows any of them.
    func refusal(ofAll addresses: [HTTP.SocketAddress]) -> GuardRefusal? {
        guard let guardRules else { return nil }
        let refusals = addresses.map { refusal(of: $0, by: guardRules) }
        return refusals.contains(nil) ? nil : refusals.first ?? nil
    }

    private func refusal(of address: HTTP.SocketAddress, by rules: GuardRules) -> GuardRefusal? {
        isForProxy ? rules.refusal(diallingProxyAt: address) : rules.refusal(dialling: address)
    }

    private func options(for address: HTTP.SocketAddress) -> HTTP.SocketOptions {
        guard case .interface(let name)? = interfaces?[address] else { return options }
        var options = options
        options.interface = name
        return options
    }

    /// The outcome of an attempt that became writable. A failed socket is closed.
    static func outcome(of dialed: DialedChannel) -> Result {
        do throws(Errno) {
            try dialed.channel.pendingError()
            return .open(dialed)
        } catch {
            dialed.channel.close()
            return .refused(failure(dialed.address, error))
        }
    }

    static func failure(_ address: HTTP.SocketAddress, _ errno: Errno) -> NetworkError.ConnectionFailures.Failure {
        NetworkError.ConnectionFailures.Failure(address: address, errno: errno.rawValue, reason: "\(errno)")
    }
}
