internal import DunlinReactor
internal import DunlinTypes
internal import Synchronization

/// One open connection to an origin. What an exchange needs only while it runs lives in the exchange; this is what
/// stays from one to the next.
final class Connection: Sendable, PoolMember {
    let channel: Channel
    let origin: Origin
    let peer: Attempt.Peer
    private let exchanges = Atomic<Int>(0)
    private let firstRead = Atomic<Int>(Connection.smallestRead)

    static let smallestRead = 4 * 1024
    static let largestFirstRead = 64 * 1024
    static let bulkRead = 256 * 1024

    init(_ channel: Channel, to origin: Origin, at peer: SocketAddress) {
        self.channel = channel
        self.origin = origin
        self.peer = Attempt.Peer(peer)
    }

    deinit {
        channel.close()
    }

    var id: UInt64 { channel.id }
    var loop: ObjectIdentifier { ObjectIdentifier(channel.reactor) }

    /// Counts an exchange; how many there were before.
    func countExchange() -> Int {
        exchanges.add(1, ordering: .relaxed).oldValue
    }

    /// How many bytes to ask for first: what the last response took, so that the next of its kind comes in one read.
    var firstReadSize: Int { firstRead.load(ordering: .relaxed) }

    func expectResponses(of size: Int) {
        let wanted = size + size / 4
        let rounded = min(max(wanted, Self.smallestRead), Self.largestFirstRead)
        firstRead.store((rounded + 1023) & ~1023, ordering: .relaxed)
    }

    func close() {
        channel.close()
    }
}
