/// The options of one call's exchanges: most calls have none.
public final class ExchangeOptions: Sendable {
    /// The source of TLS policies, instead of the session's.
    public let tlsPolicySource: (any TLSPolicySource)?
    public let control: TransferControl?
    /// The connection rules, instead of the session's.
    public let connectionRules: ConnectionRules?

    /// Creates options; nil if none is set.
    public init?(
        tlsPolicySource: (any TLSPolicySource)?, control: TransferControl?, connectionRules: ConnectionRules? = nil
    ) {
        if tlsPolicySource == nil, control == nil, connectionRules == nil { return nil }
        self.tlsPolicySource = tlsPolicySource
        self.control = control
        self.connectionRules = connectionRules
    }
}
