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
    /// The numbers of the waits that hold up a call.
    private var waitsBefore: [Call: Set<UInt64>] = [:]
    private var last: UInt64 = 0

    package init() {}

    /// Begins a wait for `target`, before whose end none of `heldUp` can end. Returns a number for `end`; nil if it
    /// must not begin.
    package mutating func begin(holdingUp heldUp: Set<Call>, for target: Call) -> UInt64? {
        guard !holdsUp(heldUp, target) else { return nil }
        last += 1
        waits[last] = Wait(target: target, heldUp: heldUp)
        for call in heldUp { waitsBefore[call, default: []].insert(last) }
        return last
    }

    package mutating func end(_ number: UInt64) {
        guard let wait = waits.removeValue(forKey: number) else { return }
        for call in wait.heldUp {
            waitsBefore[call]?.remove(number)
            if waitsBefore[call]?.isEmpty == true { waitsBefore[call] = nil }
        }
    }

    /// Whether `target` cannot end before one of `calls`.
    private func holdsUp(_ calls: Set<Call>, _ target: Call) -> Bool {
        var (seen, next): (Set<Call>, [Call]) = ([target], [target])
        while let call = next.popLast() {
            if calls.contains(call) { return true }
            for number in waitsBefore[call] ?? [] {
                if let target = waits[number]?.target, seen.insert(target).inserted { next.append(target) }
            }
        }
        return false
    }

    package var isEmpty: Bool { waits.isEmpty && waitsBefore.isEmpty }
}
