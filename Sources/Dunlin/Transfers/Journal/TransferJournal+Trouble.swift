extension TransferJournal {
    /// What is wrong with a file of a journal.
    public struct Trouble: Sendable, CustomStringConvertible {
        /// Where it lies now.
        public let path: String
        public let error: any Error

        public var description: String { "\(path): \(error)" }
    }
}
