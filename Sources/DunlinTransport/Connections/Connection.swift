internal import DunlinReactor
internal import DunlinTypes
internal import Synchronization

/// An open connection to an origin. What an exchange needs only while it runs is in the exchange; what lasts longer is
/// here.
final class Connection: Sendable, PoolMember {
    let stream: ByteStream
    let origin: HTTP.Origin
    let peer: HTTP.Hop.Peer
    let opened: HTTP.Instant
    /// The generation of the TLS policy that secured it; in clear text, one that never becomes outdated.
    let tlsGeneration: UInt64
    /// Whether it was opened for one request only, and serves no other.
    let isForOneRequest: Bool
    private let exchanges = Atomic<Int>(0)
    private let keepAlive = Atomic<Int64>(.max)
    private let firstRead = Atomic<Int>(Connection.smallestRead)

    static let smallestRead = 4 * 1024
    static let largestFirstRead = 64 * 1024

    init(
        _ stream: ByteStream, to origin: HTTP.Origin, at peer: HTTP.Hop.Peer, tlsGeneration: UInt64 = .max,
        isForOneRequest: Bool = false
    ) {
        self.tlsGeneration = tlsGeneration
        self.isForOneRequest = isForOneRequest
        self.stream = stream
        self.origin = origin
        self.peer = peer
        opened = stream.channel.reactor.now()
    }

    deinit {
        stream.close()
    }

    var proxyTLSGeneration: UInt64 { peer.making.proxyTLSGeneration ?? .max }
    var channel: Channel { stream.channel }
    var id: UInt64 { channel.id }
    var loop: ObjectIdentifier { ObjectIdentifier(channel.reactor) }

    var uses: Int { exchanges.load(ordering: .relaxed) }

    /// Counts an exchange. Only the lease calls this, one at a time.
    func countExchange() {
        exchanges.store(uses + 1, ordering: .relaxed)
    }

    var idleLimit: Int64 { keepAlive.load(ordering: .relaxed) }

    /// Notes that the server closes the connection after this many idle seconds. The server's clock began before the
    /// response arrived, and the next request takes time to reach it. So the connection is used until a second earlier,
    /// or, if the server said less than two, for half of the time.
    func serverKeeps(for seconds: Int) {
        let half = Int64(min(seconds, 1 << 30)) * 500_000_000
        keepAlive.store(max(half, 2 * half - 1_000_000_000), ordering: .relaxed)
    }

    /// How many bytes to ask for first: the size of the last response, so that a similar one comes in one read.
    var firstReadSize: Int { firstRead.load(ordering: .relaxed) }

    func expectResponses(of size: Int) {
        let wanted = size + size / 4
        let rounded = min(max(wanted, Self.smallestRead), Self.largestFirstRead)
        firstRead.store((rounded + 1023) & ~1023, ordering: .relaxed)
    }

    func close() {
        stream.close()
    }
}

extension Connection {
    /// The description of its end.
    func end(_ reason: HTTP.EndedConnection.Reason, at now: HTTP.Instant) -> HTTP.EndedConnection {
        HTTP.EndedConnection(
            number: id, origin: origin, peer: peer.address, proxy: peer.proxy, security: peer.security, reason: reason,
            age: now.duration(since: opened), uses: uses)
    }
}
