public import Testing

/// The rows of Docs/AFNetworking.md that a test, or a suite, holds Dunlin to.
///
/// A row says `tested` if a test carries its ID, as in `@Test(.rows("G-1", "S-3"))`, and only then. The test of the
/// ledger reads that in the sources, so the IDs are written out as literals. Titles may change; the IDs never do.
public struct LedgerRows: TestTrait, SuiteTrait {
    /// In the order of the ledger.
    public let ids: [String]
}

extension Trait where Self == LedgerRows {
    /// Says which rows the test proves.
    public static func rows(_ ids: String...) -> LedgerRows { LedgerRows(ids: ids) }
}
