/// Records whether something that belongs to a session is closed, by the numbers of the session's closings.
///
/// A closing may take long. If the session was reopened after a later one, it has no effect any more.
package struct Closings: Sendable {
    private var last: UInt64 = 0
    private var opened: UInt64 = 0

    package init() {}

    package var isClosed: Bool { last > opened }

    /// Whether the session was reopened after this closing or a later one.
    package func isOver(_ closing: UInt64) -> Bool { closing <= opened }

    /// Closes. Returns false, without effect, if the session was reopened since.
    package mutating func close(_ closing: UInt64) -> Bool {
        last = max(last, closing)
        return !isOver(closing)
    }

    /// Opens what this closing and earlier ones have closed.
    package mutating func open(after closing: UInt64) { opened = max(opened, closing) }
}
