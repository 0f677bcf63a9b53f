extension HTTPSession {
    /// Your functions that decide about a request or are told of it while it runs. A hook that is not set costs
    /// nothing.
    ///
    /// For a decision, the request's hook is asked first; if it has no opinion, the session's; if that has none either,
    /// the default applies. Hooks run off the loop; the request waits for them within its timeouts, and cancelling it
    /// cancels them. Hooks that are only told are called in the same order. The request waits for hooks that are told
    /// of its end (`transferEnded`, `metrics`, `completed`), however long they take.
    public struct Hooks: Sendable {
        /// Asked before a redirect is followed. Nil means no opinion; the default is to follow it.
        public var redirect: (@Sendable (RedirectProposal) async -> RedirectDecision?)?
        /// Asked for a new body when one that can be sent only once must be sent again to follow a redirect. If it
        /// returns nil, the request fails with `NetworkError` code `bodyNotReplayable`. The new body's trailers are
        /// sent where those of the first body may be: secret ones are not sent to another origin, nor after a return
        /// from one.
        public var replacementBody: (@Sendable (RedirectRequest) async -> RequestBody?)?
        /// Told each interim (1xx) response, such as 103 Early Hints, when it comes, before the final response. The
        /// final response does not wait for the hook, but the request's end does.
        public var interimResponse: (@Sendable (HTTPSession.TaskSnapshot, ResponseHead) async -> Void)?
        /// Asked about a response that is about to be delivered, before its body is read. Nil means no opinion; the
        /// default is to accept it.
        public var response: (@Sendable (HTTPSession.TaskSnapshot, ResponseHead) async -> ResponseDecision?)?
        /// Asked before a response is stored in the session's cache, and before a stored one that the server confirmed
        /// is stored with its new fields. Nil means no opinion; the default is to store it.
        public var storing: (@Sendable (HTTPSession.TaskSnapshot, ResponseHead) async -> CacheDecision?)?
        /// Asked for a download's destination once its response has been accepted; the answer overrides the request's
        /// destination. Nil means no opinion.
        public var destination: (@Sendable (HTTPSession.TaskSnapshot, ResponseHead) async -> Destination?)?
        /// Told each chunk of that response's body as it comes, with content codings removed. The next chunk is not
        /// read before the hook returns.
        public var data: (@Sendable (HTTPSession.TaskSnapshot, Bytes) async -> Void)?
        /// Told the progress of the request's body: at the beginning, whenever it has changed since the hook last
        /// returned, and at the end. The transfer does not wait for the hook, but the request's end does.
        public var uploadProgress: (@Sendable (HTTPSession.TaskSnapshot, TransferProgress) async -> Void)?
        /// Told the progress of the response's body, in the same way.
        public var downloadProgress: (@Sendable (HTTPSession.TaskSnapshot, TransferProgress) async -> Void)?
        /// Told, once, that the request waits for a network, and how it failed without one. Only for requests with
        /// `waitsForConnectivity`.
        public var waitingForConnectivity: (@Sendable (HTTPSession.TaskSnapshot, NetworkError) async -> Void)?
        /// Told, before the wait, that the request will be attempted again, and the outcome of the last attempt.
        public var retrying: (@Sendable (HTTPSession.TaskSnapshot, NetworkError.RetriedAttempt) async -> Void)?
        /// Told, before the wait, that a stream of server-sent events will be requested again, by this request.
        public var reconnecting: (@Sendable (HTTPSession.TaskSnapshot, Reconnection) async -> Void)?
        /// Told that a request's transfer is over, with or without an error, before a value is made from its body.
        public var transferEnded: (@Sendable (HTTPSession.TaskSnapshot, (any Error)?) async -> Void)?
        /// Told how a request spent its time, with each of its hops, even if it failed.
        public var metrics: (@Sendable (HTTPSession.TaskSnapshot, HTTPSession.Metrics) async -> Void)?
        /// Told the end of a request, once, before its caller.
        public var completed: (@Sendable (Completion) async -> Void)?
        /// Told that the session accepts no more requests and none is running. Only a session's hook is called.
        public var shutDown: (@Sendable () async -> Void)?

        public init() {}

        /// Whether any hook about requests is set.
        var isSet: Bool {
            redirect != nil || replacementBody != nil || response != nil || destination != nil || data != nil
                || uploadProgress != nil || downloadProgress != nil || transferEnded != nil || metrics != nil
                || completed != nil || waitingForConnectivity != nil || retrying != nil || interimResponse != nil
                || storing != nil || reconnecting != nil
        }
    }

    /// What to do with a response that is about to be stored.
    public enum CacheDecision: Sendable {
        case store
        case skip
        /// Stores the response with these fields instead of its own; the caller still gets its own.
        case storeWith(Fields)
    }

    typealias ProgressHook = @Sendable (HTTPSession.TaskSnapshot, TransferProgress) async -> Void

    /// Called with the progress of a request: at once, whenever it has changed since it last returned, and at the end.
    public typealias ProgressHandler = @Sendable (TransferProgress) async -> Void

    /// What to do with a response.
    public enum ResponseDecision: Sendable {
        case accept
        /// The request fails with `NetworkError` code `cancelled`, which carries the response's head.
        case cancel
        /// Writes the body to a file instead of memory; `Response.file` says where, and the serializer gets no bytes.
        /// No effect on streams and downloads.
        case download(to: Destination)
    }
}
