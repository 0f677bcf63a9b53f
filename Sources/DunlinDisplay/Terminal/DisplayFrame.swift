/// What one frame of a display shows.
struct DisplayFrame: Equatable, Sendable {
    struct Entry: Equatable, Sendable {
        let id: UInt64
        var line: DisplayLine
        /// Who may change it.
        var binding: UInt64 = 0
    }

    /// Stays, above all that is drawn over.
    var printed: [DisplayLine] = []
    /// Lines that are over, and stay too.
    var ended: [Entry] = []
    /// Lines to be drawn over.
    var live: [Entry] = []
}
