internal import DunlinRules
internal import Synchronization

/// A wait for a request or a picture, or for a turn, by code that others are waiting for. It lasts as long as this
/// object.
///
/// All of the process's are known here: the code of one session may ask through another, or through an image
/// downloader. Whoever waits for a turn waits for those who have one: `turns` is held up by each of them.
package final class EnclosedWait: Sendable {
    /// What would be waited for cannot end before the wait.
    package struct Circle: Error {}

    private static let machine = Mutex(WaitMachine<Enclosure.Subject>())
    private let number: UInt64

    private init(_ number: UInt64) {
        self.number = number
    }

    deinit {
        Self.machine.withLock { $0.end(number) }
    }

    /// Begins a wait for `target`, by a request if there is one, and by everything that the caller is within. Returns
    /// nil if nothing is held up by it.
    package static func begin(
        for target: Enclosure.Subject, by request: Enclosure.Subject? = nil
    ) throws(Circle) -> EnclosedWait? {
        var heldUp = Enclosure.subjects.filter(\.mayBeAwaited)
        if let request { heldUp.insert(request) }
        return heldUp.isEmpty ? nil : try begin(for: target, holdingUp: heldUp)
    }

    /// Begins a wait for `target`, before whose end none of `heldUp` can end.
    package static func begin(
        for target: Enclosure.Subject, holdingUp heldUp: Set<Enclosure.Subject>
    ) throws(Circle) -> EnclosedWait {
        guard let number = machine.withLock({ $0.begin(holdingUp: heldUp, for: target) }) else { throw Circle() }
        return EnclosedWait(number)
    }

    /// Notes that `holder` has a turn, which cannot come to others before it ends.
    package static func turn(of holder: Enclosure.Subject, at turns: Enclosure.Subject) -> EnclosedWait? {
        do throws(Circle) {
            return try begin(for: holder, holdingUp: [turns])
        } catch {
            // It waits for a turn at the same place, which it does not need to end.
            return nil
        }
    }

    /// Whether the running code is within something that may be waited for.
    static var isEnclosed: Bool { Enclosure.subjects.contains(where: \.mayBeAwaited) }
}

extension Enclosure.Subject {
    fileprivate var mayBeAwaited: Bool {
        switch self {
        case .request, .picture, .turns: true
        case .transfer, .shutDown, .refresh, .challenge, .interceptor: false
        }
    }
}
