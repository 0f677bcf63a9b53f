extension HTTPSession {
    /// What happens to a session's requests, for whoever listens to `events`.
    public enum Event: Sendable {
        /// A request begins or goes on.
        case resumed(HTTPSession.TaskSnapshot)
        case suspended(HTTPSession.TaskSnapshot)
        /// A request that is to wait for a network does so: this is how it failed. Told once.
        case waitingForConnectivity(HTTPSession.TaskSnapshot, NetworkError)
        /// A request failed and waits to be tried again: this is what its last attempt came to.
        case retrying(HTTPSession.TaskSnapshot, NetworkError.RetriedAttempt)
        /// What the configuration's `reachability` says, if events are to tell of it: as it is, then what differs.
        case reachability(Reachability.Status)
        /// A download goes on after so many bytes, of so many if that is known.
        case downloadResumed(HTTPSession.TaskSnapshot, at: Int, of: Int?)
        /// A downloaded file was given its name: `from` is where it was written.
        case fileMoved(HTTPSession.TaskSnapshot, from: String, to: String)
        /// A download has no file: there is no such place, no room, or something has its name. It fails with this
        /// error, whose code says whether the file could not be made, written or given its name.
        case fileMoveFailed(HTTPSession.TaskSnapshot, NetworkError)
        /// A request is over. Told after whoever asked for it has been told.
        case completed(Completion)
        /// The last unfinished transfer of the journal in this folder is over.
        case journalDrained(folder: String)
        /// Something is wrong with a file of the journal in this folder: an entry was found damaged and set aside.
        case journalIssue(folder: String, JournalIssue)
        /// The session takes no more requests and none is running. The last event, unless the session is restarted.
        case invalidated
    }

    /// What is wrong with a file of a journal.
    public struct JournalIssue: Sendable, CustomStringConvertible {
        /// Where it lies now.
        public let path: String
        public let error: any Error

        package init(path: String, error: any Error) {
            self.path = path
            self.error = error
        }

        public var description: String { "\(path): \(error)" }
    }
}
