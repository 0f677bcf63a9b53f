/// Whether what belongs to a session is closed, by the numbers of the session's closings.
///
/// A closing may take long. When the session has been opened again after a later one, it closes nothing any more.
package struct Closings: Sendable {
    private var last: UInt64 = 0
    private var opened: UInt64 = 0

    package init() {}

    package var isClosed: Bool { last > opened }

    /// Whether the session was opened again after this closing or a later one.
    package func isOver(_ closing: UInt64) -> Bool { closing <= opened }

    /// False if the session was opened again since; then nothing is closed.
    package mutating func close(_ closing: UInt64) -> Bool {
        last = max(last, closing)
        return !isOver(closing)
    }

    /// Opens what this closing and those before it have closed.
    package mutating func open(after closing: UInt64) { opened = max(opened, closing) }
}
