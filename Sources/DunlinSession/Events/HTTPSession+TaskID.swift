internal import Synchronization

extension HTTPSession {
    /// The ID of a request, unique in the process.
    public struct TaskID: Sendable, Hashable, CustomStringConvertible {
        public let rawValue: UInt64

        private static let last = Atomic<UInt64>(0)

        static func next() -> HTTPSession.TaskID {
            HTTPSession.TaskID(rawValue: last.add(1, ordering: .relaxed).newValue)
        }

        public var description: String { "#\(rawValue)" }
    }
}
