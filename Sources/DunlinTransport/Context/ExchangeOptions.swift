/// Those who attend one request of their own: most requests have none.
public final class ExchangeOptions: Sendable {
    /// Counts instead of the session's, should a connection have to be secured.
    public let tlsPolicySource: (any TLSPolicySource)?
    public let control: TransferControl?

    /// Nil if there is nobody.
    public init?(tlsPolicySource: (any TLSPolicySource)?, control: TransferControl?) {
        if tlsPolicySource == nil, control == nil { return nil }
        self.tlsPolicySource = tlsPolicySource
        self.control = control
    }
}
