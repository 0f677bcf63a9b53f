/// Records which calls wait for which, so that none waits for one that cannot end before it.
///
/// A call cannot end before calls made within it: by its hooks, its interceptors, or the reader of its stream. So their
/// waits also delay all calls that they are within. A wait that would close a cycle of any length does not begin.
package struct WaitMachine<Call: Hashable> {
    private struct Wait {
        let target: Call
        /// The waiting call, and those that it is within.
        let heldUp: Set<Call>
    }

    private var waits: [Call: Wait] = [:]

    package init() {}

    /// Returns whether `call`, which is within `outer`, may wait for `target`. It must call `end` when it no longer
    /// waits.
    package mutating func begin(_ call: Call, within outer: Set<Call>, for target: Call) -> Bool {
        let heldUp = outer.union([call])
        guard !holdsUp(heldUp, target) else { return false }
        waits[call] = Wait(target: target, heldUp: heldUp)
        return true
    }

    package mutating func end(_ call: Call) { waits[call] = nil }

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
