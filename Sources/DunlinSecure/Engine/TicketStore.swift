internal import DunlinTypes
internal import Synchronization

/// The key of a session: everything that a full handshake would judge by.
struct TicketKey: Hashable, Sendable {
    let origin: HTTP.Origin
    let serverName: String?
    let trust: Certificate.Fingerprint
    let identity: Bytes?

    init(_ peer: TLSPeer) {
        origin = peer.origin
        serverName = peer.serverName
        trust = peer.trust.key
        identity = peer.identity?.key
    }
}

/// The sessions of one configuration, shared by its connections on all threads.
final class TicketStore: Sendable {
    private let machine: Mutex<TicketMachine<TicketKey, TLSSession>>

    init(_ limits: TicketLimits = TicketLimits()) {
        machine = Mutex(TicketMachine(limits))
    }

    var count: Int { machine.withLock { $0.count } }

    func keep(_ session: TLSSession, for key: TicketKey) {
        machine.withLock { $0.keep(session, for: key) }
    }

    /// Returns a session whose path is still accepted at `now`. One that is not is removed, with all others of its key.
    func take(for peer: TLSPeer, at now: Int64) -> TLSSession? {
        let key = TicketKey(peer)
        guard let session = machine.withLock({ $0.take(key, at: now) }) else { return nil }
        let isAccepted = session.validity.contains(now) || peer.trust.stillAccepts(session.path, at: now)
        if session.isUsable, isAccepted { return session }
        machine.withLock { $0.discard(key) }
        return nil
    }

    func discard(for peer: TLSPeer) {
        machine.withLock { $0.discard(TicketKey(peer)) }
    }
}
