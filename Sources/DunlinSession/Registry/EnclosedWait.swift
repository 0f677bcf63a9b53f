internal import DunlinRules
internal import Synchronization

/// A wait for a request or a picture, by code that others are waiting for. It lasts as long as this object.
///
/// All of the process's are known here: the code of one session may ask through another, or through an image
/// downloader.
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
        if heldUp.isEmpty { return nil }
        guard let number = machine.withLock({ $0.begin(holdingUp: heldUp, for: target) }) else { throw Circle() }
        return EnclosedWait(number)
    }
}

extension Enclosure.Subject {
    fileprivate var mayBeAwaited: Bool {
        switch self {
        case .request, .picture: true
        case .transfer, .shutDown, .refresh, .challenge, .interceptor: false
        }
    }
}
