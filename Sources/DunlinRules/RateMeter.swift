package import DunlinTypes

/// Measures how fast something grows, over a window of the last seconds: people cannot read a figure that jumps with
/// every packet, and one that remembers the first burst for ever is wrong.
///
/// Rules: it begins with the first change after the first note, so that no wait in a queue counts and nothing that was
/// there before; there is no rate before a tenth of a second; and what is older than the window does not count. It
/// knows no clock.
package struct RateMeter {
    private struct Note {
        var count: Int
        var at: HTTP.Instant

        func seconds(to later: HTTP.Instant) -> Double { Double(later.nanoseconds - at.nanoseconds) / 1e9 }
    }

    private static let window = 3.0
    private static let least = 0.1
    /// Notes that are nearer to each other are kept as one: a window has a dozen.
    private static let spacing = window / 12

    /// What there was when nothing had moved yet.
    private var start: Int?
    /// The oldest first. Only the first may be older than the window.
    private var notes: [Note] = []
    private var last: Note?

    package init() {}

    package mutating func note(_ count: Int, at now: HTTP.Instant) {
        guard let start else {
            start = count
            return
        }
        if notes.isEmpty, count == start { return }
        let note = Note(count: count, at: now)
        last = note
        if notes.last.map({ $0.seconds(to: now) >= Self.spacing }) ?? true { notes.append(note) }
        while notes.count > 1, notes[1].seconds(to: now) >= Self.window { notes.removeFirst() }
    }

    /// Per second; nil until there is something to compare.
    package var rate: Double? {
        guard let first = notes.first, let last else { return nil }
        let seconds = first.seconds(to: last.at)
        if seconds <= Self.window {
            return seconds >= Self.least ? Double(last.count - first.count) / seconds : nil
        }
        // What there was when the window began lies between two notes.
        let next = notes.count > 1 ? notes[1] : last
        let share = (seconds - Self.window) / first.seconds(to: next.at)
        let before = Double(first.count) + min(1, share) * Double(next.count - first.count)
        return (Double(last.count) - before) / Self.window
    }
}
