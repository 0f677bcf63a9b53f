/// Keeps who uses the two directions of a connection whose directions end separately, and when it is to be closed.
///
/// Rules:
/// 1. Each direction has one user at a time; a second one is refused, and harms nothing.
/// 2. Reading is over when the peer has said that it sends no more, writing when this side has said so. Neither ends
///    the other.
/// 3. When both are over the connection is closed.
/// 4. When writing fails because the peer takes nothing more, what it sent before can still be read: writing counts as
///    over, but for a writer as closed. Any other failure takes the other direction with it, and so does a close, at
///    any time. What is closed stays closed.
///
/// It must not know sockets, bytes or errors.
package struct DuplexMachine: Sendable, Equatable {
    private enum Direction: Sendable, Equatable {
        case idle
        case busy
        case over
        case failed
    }

    /// What somebody who wants to use a direction may do.
    package enum Turn: Sendable, Equatable {
        /// Use it, then say so.
        case proceed
        /// Nothing, because somebody else uses it.
        case busy
        /// Nothing, because the direction is over.
        case over
        /// Nothing, because the connection is closed, or the direction has failed.
        case closed
    }

    package enum Action: Sendable, Equatable {
        case none
        /// Close the connection.
        case close
    }

    private var reading = Direction.idle
    private var writing = Direction.idle
    package private(set) var isClosed = false

    package init() {}

    package mutating func beginReading() -> Turn { begin(\.reading) }

    package mutating func beginWriting() -> Turn { begin(\.writing) }

    /// The reader is done; `isOver`: the peer sends no more.
    package mutating func endReading(isOver: Bool = false) -> Action { end(\.reading, isOver) }

    /// The writer is done; `isOver`: it has said that nothing more will be sent.
    package mutating func endWriting(isOver: Bool = false) -> Action { end(\.writing, isOver) }

    /// The writer found that the peer takes nothing more.
    package mutating func failWriting() -> Action {
        if isClosed { return .none }
        writing = .failed
        return reading == .over ? close() : .none
    }

    /// Closes the connection, whoever uses it.
    package mutating func close() -> Action {
        if isClosed { return .none }
        isClosed = true
        return .close
    }

    private mutating func begin(_ direction: WritableKeyPath<Self, Direction>) -> Turn {
        switch self[keyPath: direction] {
        case .over: return .over
        case .failed: return .closed
        case .idle where isClosed, .busy where isClosed: return .closed
        case .busy: return .busy
        case .idle:
            self[keyPath: direction] = .busy
            return .proceed
        }
    }

    private mutating func end(_ direction: WritableKeyPath<Self, Direction>, _ isOver: Bool) -> Action {
        self[keyPath: direction] = isOver ? .over : .idle
        return reading == .over && (writing == .over || writing == .failed) ? close() : .none
    }
}
