internal import DunlinTypes

extension PoolMachine {
    /// Takes the right to open a connection beyond the caps, for a request that may not wait. False if there is none
    /// left for its level.
    mutating func takeExtra(_ origin: HTTP.Origin, at level: Int) -> Bool {
        guard !isClosed, extras.take(at: level) else { return false }
        origins[position(adding: origin)].extra += 1
        return true
    }

    /// Notes that a request that waits may use a connection beyond the caps too. Returns whether it may open one at
    /// once.
    mutating func exceed(_ origin: HTTP.Origin, _ waiter: Waiter, _ number: UInt64, at level: Int) -> Bool {
        // It may have been served just now, and its connection be closed already. Or it waits by rule 5, not long.
        guard let position = position(of: origin),
            origins[position].open >= limits.connectionsPerOrigin || openCount >= limits.connections
        else { return false }
        guard extras.take(at: level) else {
            extras.wait(waiter, number, for: origin, at: level)
            return false
        }
        origins[position].extra += 1
        return true
    }

    /// Removes a request that was served, or does not wait any more.
    mutating func leaveExtras(_ number: UInt64, at level: Int) {
        extras.leave(number, at: level)
    }

    /// Notes that a connection beyond the caps was closed or could not be opened. The returned waiter may open one, to
    /// the returned origin.
    mutating func extraGone(_ origin: HTTP.Origin, at level: Int) -> (Waiter, HTTP.Origin)? {
        if let position = position(of: origin) {
            origins[position].extra -= 1
            removeIfDeserted(position)
        }
        while let next = extras.gone(at: level) {
            // One whose origin is forgotten was served or has given up, and is about to leave.
            guard let position = position(of: next.origin) else { continue }
            origins[position].extra += 1
            return next
        }
        return nil
    }
}
