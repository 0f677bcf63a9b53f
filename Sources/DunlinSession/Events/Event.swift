extension HTTPSession {
    /// What happens to a session's requests, as `events` tells it.
    public enum Event: Sendable {
        /// A request begins or goes on.
        case resumed(HTTPSession.TaskSnapshot)
        case suspended(HTTPSession.TaskSnapshot)
        /// A request waits for a network, because it failed with this error without one. Told once for a request.
        case waitingForConnectivity(HTTPSession.TaskSnapshot, NetworkError)
        /// A request failed and waits for its next attempt; this is the outcome of the last one.
        case retrying(HTTPSession.TaskSnapshot, NetworkError.RetriedAttempt)
        /// An interim (1xx) response came, such as 103 Early Hints, before the final one.
        case interimResponse(HTTPSession.TaskSnapshot, ResponseHead)
        /// The status of the configuration's `reachability`, if `emitsReachabilityEvents`: the present one, then each
        /// change.
        case reachability(Reachability.Status)
        /// A download goes on after so many bytes that it has already, of so many in all if that is known.
        case downloadResumed(HTTPSession.TaskSnapshot, at: Int, of: Int?)
        /// A downloaded file was moved to its final name from where it was written.
        case fileMoved(HTTPSession.TaskSnapshot, from: String, to: String)
        /// A downloaded file could not be kept: its folder is missing, the disk is full, or its name is taken. The
        /// download fails with this error, whose code says whether the file could not be made, written or given its
        /// name.
        case fileMoveFailed(HTTPSession.TaskSnapshot, NetworkError)
        /// A request is over. Told after its caller has been told.
        case completed(Completion)
        /// The last unfinished transfer of the journal in this folder is over.
        case journalDrained(folder: String)
        /// A file of the journal in this folder is damaged, and was set aside.
        case journalIssue(folder: String, JournalIssue)
        /// The session takes no more requests and none is running. The last event, unless the session is restarted.
        case invalidated
    }

    /// What is wrong with a file of a journal.
    public struct JournalIssue: Sendable, CustomStringConvertible {
        /// The path of the file now.
        public let path: String
        public let error: any Error

        package init(path: String, error: any Error) {
            self.path = path
            self.error = error
        }

        public var description: String { "\(path): \(error)" }
    }
}
