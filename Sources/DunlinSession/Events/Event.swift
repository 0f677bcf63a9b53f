extension HTTPSession {
    /// Something that happened to a session's requests, as `events` reports it.
    public enum Event: Sendable {
        /// A request began or continued.
        case resumed(HTTPSession.TaskSnapshot)
        case suspended(HTTPSession.TaskSnapshot)
        /// A request waits for a network, after it failed with this error without one. Reported once for each request.
        case waitingForConnectivity(HTTPSession.TaskSnapshot, NetworkError)
        /// A request failed and waits for its next attempt; this is the outcome of the last one.
        case retrying(HTTPSession.TaskSnapshot, NetworkError.RetriedAttempt)
        /// A stream of server-sent events ended, and waits to be requested again, by this request.
        case reconnecting(HTTPSession.TaskSnapshot, Reconnection)
        /// An interim (1xx) response came before the final one, such as 103 Early Hints.
        case interimResponse(HTTPSession.TaskSnapshot, ResponseHead)
        /// The status of the configuration's `reachability`, if `emitsReachabilityEvents` is set: the current one, then
        /// each change.
        case reachability(Reachability.Status)
        /// A download continues after the bytes that it already has, out of the given number in all, if that is known.
        case downloadResumed(HTTPSession.TaskSnapshot, at: Int, of: Int?)
        /// A downloaded file was moved from where it was written to its final name.
        case fileMoved(HTTPSession.TaskSnapshot, from: String, to: String)
        /// A downloaded file could not be kept: its folder is missing, the disk is full, or its name is taken. The
        /// download fails with this error, whose code says whether the file could not be created, written or renamed.
        case fileMoveFailed(HTTPSession.TaskSnapshot, NetworkError)
        /// A request is over. Reported after its caller has been told.
        case completed(Completion)
        /// The last unfinished transfer of the journal in this folder is over.
        case journalEmptied(folder: String)
        /// A file of the journal in this folder is damaged, and was set aside.
        case journalIssue(folder: String, JournalIssue)
        /// A response that waited to be written into the cache's folder (`CacheUse.Storing`) was stored, or will not
        /// be: its URL was changed or removed, or the disk failed. The event may come before `completed` or after it.
        case storingEnded(HTTPSession.TaskSnapshot, isStored: Bool)
        /// The session accepts no more requests and none is running. This is the last event, unless the session is
        /// restarted.
        case shutDown
    }

    /// A problem with a file of a journal.
    public struct JournalIssue: Sendable, CustomStringConvertible {
        /// The file's current path.
        public let path: String
        public let error: any Error

        package init(path: String, error: any Error) {
            self.path = path
            self.error = error
        }

        public var description: String { "\(path): \(error)" }
    }
}
