internal import DunlinTypes

extension PoolMachine {
    /// Notes that a request that waits may use a connection beyond the caps too, being within `depth` others. Returns
    /// whether it may open one at once.
    mutating func exceed(_ origin: HTTP.Origin, _ waiter: Waiter, _ number: UInt64, at depth: Int) -> Bool {
        // It may have been served just now, and its connection be closed already.
        guard let position = position(of: origin), extras.ask(waiter, number, for: origin, at: depth) else {
            return false
        }
        origins[position].extra += 1
        return true
    }

    /// Removes a request that was served, or does not wait any more.
    mutating func leaveExtras(_ number: UInt64, at depth: Int) {
        extras.leave(number, at: depth)
    }

    /// Notes that a connection beyond the caps was closed or could not be opened. The returned waiter may open one, to
    /// the returned origin.
    mutating func extraGone(_ origin: HTTP.Origin, at depth: Int) -> (Waiter, HTTP.Origin)? {
        if let position = position(of: origin) {
            origins[position].extra -= 1
            removeIfDeserted(position)
        }
        guard let next = extras.gone(at: depth), !isClosed, let position = position(of: next.origin) else { return nil }
        origins[position].extra += 1
        return next
    }
}
