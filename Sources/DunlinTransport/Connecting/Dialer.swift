internal import DunlinReactor
internal import DunlinSemantics
internal import DunlinTypes

/// Begins to connect to one address, with a socket whose options are set.
///
/// Every connection begins here. So this is where the guard judges: by the very address that the kernel is told, once
/// for each attempt.
struct Dialer {
    enum Result {
        case open(DialedChannel)
        case underway(DialedChannel)
        case refused(NetworkError.ConnectionFailures.Failure)
    }

    /// What rules about interfaces say of one address.
    enum Binding: Sendable {
        case unbound
        case interface(String)
    }

    let options: HTTP.SocketOptions
    /// The bindings by address; nil without rules.
    var interfaces: [HTTP.SocketAddress: Binding]?
    /// Judges each address; nil for no guard.
    var guardRules: GuardRules?
    /// Whether it is a proxy that is dialled.
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
            // The channel is in a turn from the beginning: a refusal that the loop sees first must not count as
            // unsolicited.
            let channel = try Channel(socket, on: reactor, unsolicited: announcing, inTurn: true)
            let line = DialedChannel(channel: channel, turn: Channel.firstTurn, address: address)
            return state == .connected ? .open(line) : .underway(line)
        } catch {
            return .refused(Self.failure(address, error))
        }
    }

    /// Why the guard refuses the first of these addresses; nil if it allows any.
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

    /// The outcome of an attempt that became writable; the socket is closed if it failed.
    static func outcome(of line: DialedChannel) -> Result {
        do throws(Errno) {
            try line.channel.pendingError()
            return .open(line)
        } catch {
            line.channel.close()
            return .refused(failure(line.address, error))
        }
    }

    static func failure(_ address: HTTP.SocketAddress, _ errno: Errno) -> NetworkError.ConnectionFailures.Failure {
        NetworkError.ConnectionFailures.Failure(address: address, errno: errno.rawValue, reason: "\(errno)")
    }
}
