extension HTTPSession {
    /// Watches a session's requests without changing what they do: for logs, metrics and traces.
    ///
    /// ```swift
    /// struct Timer: HTTPSession.Observer, HTTPSession.RequestObserver {
    ///     func began(_ request: HTTPSession.TaskSnapshot) -> (any HTTPSession.RequestObserver)? { self }
    ///
    ///     func ended(_ completion: HTTPSession.Completion) { print(completion.task, completion.task.age) }
    /// }
    ///
    /// configuration.observers.append(Timer())
    /// ```
    ///
    /// Unlike `events`, an observer misses nothing; unlike a hook, it decides nothing, and any number of observers can
    /// be set. Every method has a default implementation that does nothing.
    ///
    /// **Rules.** All methods of an observer, and of what it returns, are called synchronously, and the request waits
    /// meanwhile: often on one of the session's loops, where every other request waits too. They must return quickly,
    /// must not block, and must not wait for the session. They are never called under a lock. For one request, the
    /// methods are called one after another, in order, apart from `noted` for `suspended` and `resumed`, which is
    /// called by the thread that suspends or resumes, and the end of a streamed body, which may be released anywhere.
    public protocol Observer: Sendable {
        /// Whether the observer watches requests that are made now. Asked before each request, in the task that makes
        /// it. As long as no observer of the session says yes, requests cost what they cost without observers, and
        /// `began` is not called.
        var isWatching: Bool { get }

        /// A request was made. Returns what watches it, or nil if the observer has no interest in it.
        ///
        /// Called in the task that makes the request, so this task's local values are visible:
        ///
        /// - for a handle (`task`, `uploadTask`, `downloadTask`), when the handle is made, before it is resumed;
        /// - for a stream, before its response is awaited;
        /// - for a question of the session's own (`isRevalidation`), in the task of the request that led to it;
        /// - for a journal's transfer, in a task of the journal, which has no local values of the program.
        ///
        /// What a refresh, hook or interceptor requests is a request like any other, in the task of that code. A
        /// request with an invalid target, or of a session that is shut down, fails before it is made, and no observer
        /// is told; nor is one told of connections that are opened ahead of need.
        func began(_ request: TaskSnapshot) -> (any RequestObserver)?

        /// A connection of the session was closed. Called on any thread: also on yours, where you release a session, or
        /// a stream that was not read. So the method must take no lock under which you do that.
        func connectionEnded(_ connection: HTTP.EndedConnection)
    }

    /// Watches one request, from its beginning to its end.
    public protocol RequestObserver: Sendable {
        /// An exchange begins: the first one, or one that follows a redirect, answers a challenge or tries again.
        /// Returns what watches it, or nil. Not called for a request that a stored or shared response answers.
        ///
        /// An exchange includes the interceptors around it, which see the added fields and may sign them. What such an
        /// interceptor sends again itself belongs to the same exchange.
        ///
        /// `fields` is empty. What is added is sent with this exchange only, and is not part of what identifies a
        /// stored or shared response. A field that the request has already is left as it is. A field is dropped if its
        /// name or value is not allowed in a field, if its name frames the message or belongs to the connection (such
        /// as `Host`, `Content-Length` and `Connection`), if it is a secret one (such as `Authorization` and `Cookie`),
        /// or if an earlier observer has added it; `ExchangeEnd.droppedFields` counts them.
        func exchangeBegan(_ exchange: Exchange, adding fields: inout Fields) -> (any ExchangeObserver)?

        /// Something happened between the exchanges of the request, or before the first.
        func noted(_ step: RequestStep)

        /// A stored or shared response answers a request, which is not sent: the first one, or one after a redirect.
        /// The last step says which of the two it is. If the response is the one that is delivered, and read as a
        /// whole, its body is that of the `Completion`.
        func answered(_ unsent: RequestHead, by response: ResponseHead)

        /// The request is over. Called once for every request, after the end of its last exchange, and before its
        /// caller gets the outcome; for a stream after its body.
        func ended(_ completion: Completion)
    }

    /// Watches one exchange of a request.
    public protocol ExchangeObserver: Sendable {
        /// Whether it is told of the bytes of bodies. Asked once, when the exchange begins.
        var wantsBodies: Bool { get }

        /// A request is sent, as the interceptors around the exchange have made it: more than once if one of them sends
        /// again. Fields that frame the message are not in it, nor what a proxy asks for.
        func sends(_ request: TransportRequest)

        /// A piece of a request's streamed body is sent; other bodies are in the request. It may be called while a
        /// method for the response is.
        func sends(_ piece: Bytes)

        /// The response's head has come, and passed the interceptors around the exchange. At most once.
        func answered(_ head: ResponseHead)

        /// A piece of the response's body has come, or all of it, without framing and with content codings still on.
        func received(_ piece: Bytes)

        /// The exchange is over. Called once for every exchange: after the body, if it is streamed, and at the latest
        /// when its request ends.
        func ended(_ end: ExchangeEnd)
    }
}

extension HTTPSession.Observer {
    public var isWatching: Bool { true }
    public func began(_ request: HTTPSession.TaskSnapshot) -> (any HTTPSession.RequestObserver)? { nil }
    public func connectionEnded(_ connection: HTTP.EndedConnection) {}
}

extension HTTPSession.RequestObserver {
    public func exchangeBegan(
        _ exchange: HTTPSession.Exchange, adding fields: inout Fields
    ) -> (any HTTPSession.ExchangeObserver)? { nil }

    public func noted(_ step: HTTPSession.RequestStep) {}
    public func answered(_ unsent: RequestHead, by response: ResponseHead) {}
    public func ended(_ completion: HTTPSession.Completion) {}
}

extension HTTPSession.ExchangeObserver {
    public var wantsBodies: Bool { false }
    public func sends(_ request: TransportRequest) {}
    public func sends(_ piece: Bytes) {}
    public func received(_ piece: Bytes) {}
    public func answered(_ head: ResponseHead) {}
    public func ended(_ end: HTTPSession.ExchangeEnd) {}
}
