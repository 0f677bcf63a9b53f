/// What one frame of a display shows.
struct DisplayFrame: Equatable, Sendable {
    struct Entry: Equatable, Sendable {
        let id: UInt64
        var line: DisplayLine
        /// The binding that may change it.
        var binding: UInt64 = 0
    }

    /// Printed lines, which stay above those that are redrawn.
    var printed: [DisplayLine] = []
    /// Ended lines, which stay too.
    var ended: [Entry] = []
    /// Lines that are redrawn.
    var live: [Entry] = []
}
