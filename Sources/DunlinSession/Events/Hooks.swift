extension HTTPSession {
    /// Functions of yours that decide, or are told, while a request is on its way. A hook that is not set costs
    /// nothing.
    ///
    /// For a decision the request's hook is asked first, as its options come before the session's settings. Where it
    /// has no opinion, the session's hook is asked, and where that has none, the default counts. Hooks run off the
    /// loop; the request waits for them within its timeouts, and cancelling it cancels them. News goes to the request's
    /// hook first, then to the session's. A hook's first argument is the request it is about. The request waits for
    /// hooks that are told of its end, however long they take.
    public struct Hooks: Sendable {
        /// Asked before a redirect is followed. Nil means no opinion; the default is to follow.
        public var redirect: (@Sendable (RedirectProposal) async -> RedirectDecision?)?
        /// Asked for a body when one that could be sent once must be sent again to follow a redirect. If the answer is
        /// nil, the request fails with `NetworkError` code `bodyNotReplayable`. Its trailers go where those of the
        /// first body may: none that are secret go to another origin, or come back from one.
        public var replacementBody: (@Sendable (RedirectRequest) async -> RequestBody?)?
        /// Told each interim (1xx) response when it comes, such as 103 Early Hints: before the final response. That
        /// does not wait for the hook, but the request's end does.
        public var interimResponse: (@Sendable (HTTPSession.TaskSnapshot, ResponseHead) async -> Void)?
        /// Asked about a response that is to be delivered, before its body is read. Nil means no opinion; the default
        /// is to accept it.
        public var response: (@Sendable (HTTPSession.TaskSnapshot, ResponseHead) async -> ResponseDecision?)?
        /// Asked before a response is stored in the session's cache. Nil means no opinion; the default is to store it.
        public var willCache: (@Sendable (HTTPSession.TaskSnapshot, ResponseHead) async -> CacheDecision?)?
        /// Asked where a download goes, once its response has been accepted; the answer overrides the request's
        /// destination. Nil means no opinion.
        public var destination: (@Sendable (HTTPSession.TaskSnapshot, ResponseHead) async -> Destination?)?
        /// Told each chunk of that response's body as it comes, content codings taken off. The next chunk is not read
        /// before the hook returns.
        public var data: (@Sendable (HTTPSession.TaskSnapshot, Bytes) async -> Void)?
        /// Told the progress of the request's body: at the beginning, whenever it has changed since the hook last
        /// returned, and at the end. The transfer does not wait for the hook, but the request's end does.
        public var uploadProgress: (@Sendable (HTTPSession.TaskSnapshot, TransferProgress) async -> Void)?
        /// Told the progress of the response's body in the same way.
        public var downloadProgress: (@Sendable (HTTPSession.TaskSnapshot, TransferProgress) async -> Void)?
        /// Told, once, that the request waits for a network, and how it failed without one. Only for requests with
        /// `waitsForConnectivity`.
        public var waitingForConnectivity: (@Sendable (HTTPSession.TaskSnapshot, NetworkError) async -> Void)?
        /// Told, before the wait, that the request will have another attempt, and the outcome of its last one.
        public var retrying: (@Sendable (HTTPSession.TaskSnapshot, NetworkError.RetriedAttempt) async -> Void)?
        /// Told that a request's transfer is over, with or without an error, before a value is made of its body.
        public var transferEnded: (@Sendable (HTTPSession.TaskSnapshot, (any Error)?) async -> Void)?
        /// Told how a request spent its time, with each hop it took, also if it failed.
        public var metrics: (@Sendable (HTTPSession.TaskSnapshot, HTTPSession.Metrics) async -> Void)?
        /// Told the end of a request, once, before its caller is.
        public var completed: (@Sendable (Completion) async -> Void)?
        /// Told that the session takes no more requests and none is running. Only a session's hook is told.
        public var invalidated: (@Sendable () async -> Void)?

        public init() {}

        /// Whether any hook is set that is asked or told about requests.
        var isSet: Bool {
            redirect != nil || replacementBody != nil || response != nil || destination != nil || data != nil
                || uploadProgress != nil || downloadProgress != nil || transferEnded != nil || metrics != nil
                || completed != nil || waitingForConnectivity != nil || retrying != nil || interimResponse != nil
                || willCache != nil
        }
    }

    /// What to do about a response that is to be stored.
    public enum CacheDecision: Sendable {
        case store
        case skip
        /// The cache sees these fields in place of the response's; whoever asked for the response does not.
        case storeWith(Fields)
    }

    typealias ProgressHook = @Sendable (HTTPSession.TaskSnapshot, TransferProgress) async -> Void

    /// Told the progress of one request: at once, whenever it has changed since it last returned, and at the end.
    public typealias ProgressHandler = @Sendable (TransferProgress) async -> Void

    /// What to do about a response.
    public enum ResponseDecision: Sendable {
        case accept
        /// The request fails with `NetworkError` code `cancelled`, which carries the response's head.
        case cancel
        /// The body goes to a file instead of to memory; `Response.file` says which, and the serializer gets no bytes.
        /// Has no effect on a stream or a download.
        case download(to: Destination)
    }
}
