extension HTTPSession.Next {
    /// The session, for requests of the interceptor's own: they do not pass it again, and wait in no queue. Nil for an
    /// interceptor that is tried alone.
    public var session: HTTPSession? { (owner as? SessionCore).map(HTTPSession.init) }
}
