/// Those who attend one request of their own: most requests have none.
public final class Attendants: Sendable {
    /// Counts instead of the session's, should a connection have to be secured.
    public let advisor: (any HandshakeAdvisor)?
    public let watch: TransferWatch?

    /// Nil if there is nobody.
    public init?(advisor: (any HandshakeAdvisor)?, watch: TransferWatch?) {
        if advisor == nil, watch == nil { return nil }
        self.advisor = advisor
        self.watch = watch
    }
}
