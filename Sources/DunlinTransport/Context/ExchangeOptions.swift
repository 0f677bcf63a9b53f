/// The options of one call's exchanges: most calls have none.
public final class ExchangeOptions: Sendable {
    /// The source of TLS policies, instead of the session's.
    public let tlsPolicySource: (any TLSPolicySource)?
    public let control: TransferControl?
    /// The connection rules, instead of the session's.
    public let connectionRules: ConnectionRules?
    /// How to use the connection of a request that offers another protocol; nil for one that offers none.
    package let upgrade: UpgradeOptions?

    /// Creates options; nil if none is set.
    public convenience init?(
        tlsPolicySource: (any TLSPolicySource)?, control: TransferControl?, connectionRules: ConnectionRules? = nil
    ) {
        self.init(
            tlsPolicySource: tlsPolicySource, control: control, connectionRules: connectionRules, upgrade: nil)
    }

    /// Creates options; nil if none is set.
    package init?(
        tlsPolicySource: (any TLSPolicySource)?, control: TransferControl?, connectionRules: ConnectionRules?,
        upgrade: UpgradeOptions?
    ) {
        if tlsPolicySource == nil, control == nil, connectionRules == nil, upgrade == nil { return nil }
        self.upgrade = upgrade
        self.tlsPolicySource = tlsPolicySource
        self.control = control
        self.connectionRules = connectionRules
    }
}
