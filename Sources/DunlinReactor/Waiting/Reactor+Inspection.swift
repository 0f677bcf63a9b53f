internal import DunlinTypes
internal import Synchronization

/// What tests may ask of a loop.
extension Reactor {
    /// Whether the loop sleeps and has nothing left to do: no job has come and no deadline has passed.
    package var isResting: Bool {
        let now = now()
        return shared.withLock { shared in
            shared.isSleeping && shared.arrived.isEmpty && shared.deadlines.earliest ?? .never > now
        }
    }

    /// Every channel that is open on this loop.
    package var channels: [Channel] {
        shared.withLock { $0.slots.all }.compactMap { if case .channel(let channel) = $0 { channel } else { nil } }
    }

    /// How many waits would end by themselves as time passes: on sockets, and on whatever else a request waits for.
    /// Deadlines of the loop's own, such as for sweeping idle connections, are not counted.
    package var armedDeadlines: Int {
        let entries = shared.withLock { $0.slots.all }
        return entries.count { entry in
            switch entry {
            case .free: false
            case .channel(let channel): channel.hasDeadline
            case .timer(let timed): timed is any Cancellable
            }
        }
    }
}
