import Foundation

/// A process of this program that downloads, until it is killed.
final class Downloader {
    private let child: Descendant

    init(_ request: [String], _ file: URL) throws {
        child = try Descendant(["fetch"] + request + [file.path])
    }

    /// Whether it did what it should.
    func finish() async -> Bool {
        await child.end() == 0
    }

    /// Whether it was killed; false if it ended before.
    func kill(at moment: Moment, _ counter: FetchCounter) async -> Bool {
        let start = ContinuousClock.now
        var due: ContinuousClock.Instant?
        while !child.hasEnded {
            switch moment {
            case .share(let share): if counter.isSent(share) { due = .now }
            case .after(let duration): due = start + duration
            case .end(let duration): if due == nil, counter.isSent(1000) { due = .now + duration }
            }
            if let due, due <= .now {
                child.kill()
                await child.end()
            } else {
                await Descendant.pause()
            }
        }
        return child.wasKilled
    }
}
