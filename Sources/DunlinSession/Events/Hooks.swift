extension HTTPSession {
    /// What decides, or is told, while a request is on its way. A hook that is not set costs nothing.
    ///
    /// For what has to be decided the session's hook is asked first. Where it has no opinion, the request's is asked,
    /// and where that has none, the default counts. Hooks run off the loop; the request waits for them within its
    /// timeouts, and cancelling it cancels them. What is told is told the session's hook, then the request's. Those who
    /// are told of the end are waited for, however long that takes.
    public struct Hooks: Sendable {
        /// Asked before a redirect is followed. Nil means no opinion; the default is to follow.
        public var redirect: (@Sendable (RedirectProposal) async -> RedirectDecision?)?
        /// Asked for a body when one that could be sent once must be sent again to follow a redirect. With nil for an
        /// answer the request fails with `NetworkError` code `bodyNotReplayable`.
        public var replacementBody: (@Sendable (RedirectRequest) async -> RequestBody?)?
        /// Asked about a response that is to be delivered, before its body is read. Nil means no opinion; the default
        /// is to take it.
        public var response: (@Sendable (ResponseHead, HTTPSession.TaskSnapshot) async -> ResponseDecision?)?
        /// Asked where a download goes, once its response has been taken; counts before what the request says. Nil
        /// means no opinion.
        public var destination: (@Sendable (ResponseHead, HTTPSession.TaskSnapshot) async -> Destination?)?
        /// Told each piece of that response's body as it comes, content codings taken off. The next is not read before
        /// it returns.
        public var data: (@Sendable (Bytes, HTTPSession.TaskSnapshot) async -> Void)?
        /// Told how far the request's body has come: now, whenever that has changed since it last returned, and at the
        /// end. The transfer does not wait for it, but its end does.
        public var uploadProgress: ProgressHook?
        /// The same of the response's body.
        public var downloadProgress: ProgressHook?
        /// Told, once, that the request waits for a network, and how it failed without one. Of requests that are to
        /// wait (`waitsForConnectivity`).
        public var waitingForConnectivity: (@Sendable (HTTPSession.TaskSnapshot, NetworkError) async -> Void)?
        /// Told, before the wait, that the request is to be tried again, and what its last attempt came to.
        public var willRetry: (@Sendable (HTTPSession.TaskSnapshot, NetworkError.RetriedAttempt) async -> Void)?
        /// Told that a request's transfer is over, well or with an error, before a value is made of what came.
        public var didEndTransfer: (@Sendable (HTTPSession.TaskSnapshot, (any Error)?) async -> Void)?
        /// Told how a request spent its time, with each attempt it took, also of one that failed.
        public var metrics: (@Sendable (HTTPSession.Metrics, HTTPSession.TaskSnapshot) async -> Void)?
        /// Told how a request ended, once, before its caller is.
        public var completed: (@Sendable (Completion) async -> Void)?
        /// Told that the session takes no more requests and none is running. Of a session's hooks only.
        public var invalidated: (@Sendable () async -> Void)?

        public init() {}

        /// Whether any of them wants to be asked or told about requests.
        var isSet: Bool {
            redirect != nil || replacementBody != nil || response != nil || destination != nil || data != nil
                || uploadProgress != nil || downloadProgress != nil || didEndTransfer != nil || metrics != nil
                || completed != nil || waitingForConnectivity != nil || willRetry != nil
        }
    }

    public typealias ProgressHook = @Sendable (TransferProgress, HTTPSession.TaskSnapshot) async -> Void

    /// What to do about a response.
    public enum ResponseDecision: Sendable {
        case accept
        /// The request fails with `NetworkError` code `cancelled`, which carries the response's head.
        case cancel
        /// The body goes to a file instead of to memory; `Response.file` says where it lies, and the serializer is
        /// shown no bytes. Who reads a stream, or downloads anyway, goes on doing so.
        case download(to: Destination)
    }
}
