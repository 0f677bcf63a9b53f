internal import Synchronization

extension HTTPSession {
    /// The identity of one request of this process; no two requests have the same.
    public struct TaskID: Sendable, Hashable, CustomStringConvertible {
        public let rawValue: UInt64

        private static let last = Atomic<UInt64>(0)

        static func next() -> HTTPSession.TaskID {
            HTTPSession.TaskID(rawValue: last.add(1, ordering: .relaxed).newValue)
        }

        public var description: String { "#\(rawValue)" }
    }
}
