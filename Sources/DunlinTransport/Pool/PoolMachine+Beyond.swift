internal import DunlinTypes

/// Connections beyond the caps (rule 12).
extension PoolMachine {
    /// Gives the right to open one; false if there are too many.
    mutating func grantBeyond(_ position: Int) -> Bool {
        guard beyondCount < limits.beyond else { return false }
        origins[position].beyond += 1
        beyondCount += 1
        return true
    }

    /// Notes that one was closed or could not be opened. The returned waiter may open one, to the returned origin.
    mutating func goneBeyond(_ origin: HTTP.Origin) -> (Waiter, HTTP.Origin)? {
        beyondCount -= 1
        if let position = position(of: origin) {
            origins[position].beyond -= 1
            removeIfDeserted(position)
        }
        let waiting = origins.indices.filter { origins[$0].queue.firstExceeding != nil }
        let first = waiting.min { origins[$0].queue.firstExceeding ?? .max < origins[$1].queue.firstExceeding ?? .max }
        guard let first, let number = origins[first].queue.firstExceeding,
            let waiter = origins[first].queue.leave(number)?.waiter, grantBeyond(first)
        else { return nil }
        waitingCount -= 1
        return (waiter, origins[first].origin)
    }
}
