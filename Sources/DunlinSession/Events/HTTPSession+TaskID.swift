internal import Synchronization

extension HTTPSession {
    /// One request of this process; never given twice.
    public struct TaskID: Sendable, Hashable, CustomStringConvertible {
        public let rawValue: UInt64

        private static let last = Atomic<UInt64>(0)

        static func next() -> HTTPSession.TaskID {
            HTTPSession.TaskID(rawValue: last.add(1, ordering: .relaxed).newValue)
        }

        public var description: String { "#\(rawValue)" }
    }
}
