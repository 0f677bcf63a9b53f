/// Records which calls wait for which, so that none waits for one that cannot end before it.
///
/// A call cannot end before calls made within it: by its hooks, its interceptors, or the reader of its stream. So their
/// waits also delay all calls that they are within. A wait that would close a cycle of any length does not begin.
package struct WaitMachine<Call: Hashable> {
    private struct Wait {
        let target: Call
        /// The calls that cannot end before the wait.
        let heldUp: Set<Call>
    }

    private var waits: [UInt64: Wait] = [:]
    private var last: UInt64 = 0

    package init() {}

    /// Begins a wait for `target`, before whose end none of `heldUp` can end. Returns a number for `end`; nil if it
    /// must not begin.
    package mutating func begin(holdingUp heldUp: Set<Call>, for target: Call) -> UInt64? {
        guard !holdsUp(heldUp, target) else { return nil }
        last += 1
        waits[last] = Wait(target: target, heldUp: heldUp)
        return last
    }

    package mutating func end(_ number: UInt64) { waits[number] = nil }

    /// Whether `target` cannot end before one of `calls`.
    private func holdsUp(_ calls: Set<Call>, _ target: Call) -> Bool {
        var (seen, next): (Set<Call>, [Call]) = ([target], [target])
        while let call = next.popLast() {
            if calls.contains(call) { return true }
            for wait in waits.values where wait.heldUp.contains(call) && seen.insert(wait.target).inserted {
                next.append(wait.target)
            }
        }
        return false
    }

    package var isEmpty: Bool { waits.isEmpty }
}
