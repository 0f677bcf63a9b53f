/// The options of one call's exchanges: most calls have none.
public final class ExchangeOptions: Sendable {
    /// Replaces the session's source, should a connection have to be secured.
    public let tlsPolicySource: (any TLSPolicySource)?
    public let control: TransferControl?
    /// Replace the session's.
    public let connectionRules: ConnectionRules?

    /// Nil if no option is set.
    public init?(
        tlsPolicySource: (any TLSPolicySource)?, control: TransferControl?, connectionRules: ConnectionRules? = nil
    ) {
        if tlsPolicySource == nil, control == nil, connectionRules == nil { return nil }
        self.tlsPolicySource = tlsPolicySource
        self.control = control
        self.connectionRules = connectionRules
    }
}
