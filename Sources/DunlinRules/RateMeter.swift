package import DunlinTypes

/// Measures how fast something grows, over a window of the last seconds. A number that changed with every packet would
/// be unreadable, and one that included the first burst for ever would be wrong.
///
/// Rules: it begins with the first change after the first note, so that neither waits in a queue nor earlier amounts
/// count; there is no rate before a tenth of a second; and nothing older than the window counts. It knows no clock.
package struct RateMeter {
    private struct Note {
        var count: Int
        var at: HTTP.Instant

        func seconds(to later: HTTP.Instant) -> Double { Double(later.nanoseconds - at.nanoseconds) / 1e9 }
    }

    private static let window = 3.0
    private static let least = 0.1
    /// The time within which notes are combined: a window has a dozen.
    private static let spacing = window / 12

    /// The amount before the first movement.
    private var start: Int?
    /// The notes, oldest first. Only the first may be older than the window.
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

    /// The rate in seconds; nil until there is something to compare.
    package var rate: Double? {
        guard let first = notes.first, let last else { return nil }
        let seconds = first.seconds(to: last.at)
        if seconds <= Self.window {
            return seconds >= Self.least ? Double(last.count - first.count) / seconds : nil
        }
        // The amount at the beginning of the window lies between two notes.
        let next = notes.count > 1 ? notes[1] : last
        let share = (seconds - Self.window) / first.seconds(to: next.at)
        let before = Double(first.count) + min(1, share) * Double(next.count - first.count)
        return (Double(last.count) - before) / Self.window
    }
}
