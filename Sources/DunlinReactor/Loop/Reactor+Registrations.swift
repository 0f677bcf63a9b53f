internal import CEpoll
public import DunlinTypes
internal import Synchronization

/// What the loop looks at: descriptors and times.
extension Reactor {
    func register(_ channel: Channel) -> UInt64 {
        ledger.add(.channels, 1)
        let token = shared.withLock { $0.slots.insert(.channel(channel)) }
        makeTurnIfWanted()
        return token
    }

    func register(_ descriptor: Int32, token: UInt64) throws(Errno) {
        guard dunlin_epoll_add(epoll, descriptor, token) == 0 else { throw Errno.last }
    }

    /// Asks for `timed` to be looked at by `time`. The loop keeps it until it is removed.
    public func schedule(_ timed: any Timed, at time: HTTP.Instant) -> UInt64 {
        ledger.add(.timers, 1)
        let token = shared.withLock { $0.slots.insert(.timer(timed)) }
        schedule(token, at: time)
        return token
    }

    /// Brings the next look at a slot forward to `time`; a later time changes nothing.
    public func schedule(_ token: UInt64, at time: HTTP.Instant) {
        guard time < .never else { return }
        let mustWake = shared.withLock { shared in
            guard let slot = shared.slots.index(of: token) else { return false }
            let earliest = shared.deadlines.earliest ?? .never
            shared.deadlines.schedule(slot, at: time)
            guard shared.isSleeping, time < earliest || self.time.isManual || !shared.turnObservers.isEmpty else {
                return false
            }
            shared.isSleeping = false
            return true
        }
        if mustWake { signal() }
    }

    public func forget(_ token: UInt64) {
        let entry = shared.withLock { shared in
            if let slot = shared.slots.index(of: token) { shared.deadlines.remove(slot) }
            return shared.slots.remove(token)
        }
        switch entry {
        case .channel: ledger.add(.channels, -1)
        case .timer: ledger.add(.timers, -1)
        case .free: return
        }
        makeTurnIfWanted()
    }
}
