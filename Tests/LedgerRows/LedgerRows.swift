public import Testing

/// The IDs that a test, or a suite, holds Dunlin to: rows of Docs/AFNetworking.md, or rules of Docs/Conformance.md.
///
/// A row or a rule says `tested` if a test carries its ID, as in `@Test(.rows("G-1", "S-3"))` and
/// `@Test(.rules("9112-6.3-1"))`, and only then. The test of the ledger and `.ci/rules` read that in the sources, so
/// the IDs are written out as literals. Titles may change; the IDs never do.
public struct LedgerRows: TestTrait, SuiteTrait {
    /// In the order of the document.
    public let ids: [String]
}

extension Trait where Self == LedgerRows {
    /// Says which rows of Docs/AFNetworking.md the test proves.
    public static func rows(_ ids: String...) -> LedgerRows { LedgerRows(ids: ids) }

    /// Says which rules of Docs/Conformance.md the test proves.
    public static func rules(_ ids: String...) -> LedgerRows { LedgerRows(ids: ids) }
}
