import Dunlin
import DunlinTesting
import Foundation
import Synchronization

/// A thread that ends the process, with what can be said of its state, when no request has ended for a while: nothing
/// in a storm may wait longer than its timeouts.
final class Watchdog: Sendable {
    private static let longestWait: Duration = .seconds(300)

    private struct Watched {
        weak var session: HTTPSession?
    }

    private let tally: Tally
    private let watched = Mutex(Watched())

    init(_ tally: Tally) {
        self.tally = tally
        Thread.detachNewThread { [self] in watch() }
    }

    /// Whose registry and pool to show.
    func watch(_ session: HTTPSession) {
        watched.withLock { $0.session = session }
    }

    private func watch() {
        var (seen, since) = (-1, ContinuousClock.now)
        while true {
            Thread.sleep(forTimeInterval: 0.25)
            let progress = tally.progress.load(ordering: .relaxed)
            if progress != seen {
                (seen, since) = (progress, .now)
            } else if ContinuousClock.now - since > Self.longestWait {
                bark()
            }
        }
    }

    private func bark() -> Never {
        print("HANG: no request has ended for \(Self.longestWait)")
        if let session = watched.withLock({ $0.session }) {
            print("pool: \(session.connections)")
            // A loop that hangs says nothing.
            Task.detached { for task in await session.tasks.all { print("running: \(task)") } }
            sleep(2)
        }
        print(tally)
        // Nothing is tidied up under threads that still run.
        fflush(nil)
        _exit(1)
    }
}
