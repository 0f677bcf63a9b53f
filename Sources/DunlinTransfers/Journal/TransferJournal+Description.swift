extension TransferJournal: CustomStringConvertible, CustomReflectable {
    /// The journal's folder.
    public var description: String { "TransferJournal(\(VisibleText.of(folder)))" }

    public var customMirror: Mirror { Mirror(self, children: ["folder": folder], displayStyle: .class) }
}

extension TransferJournal.Transfer: CustomStringConvertible, CustomReflectable {
    /// The transfer's ID.
    public var description: String { "Transfer(\(id))" }

    /// Shows only the ID, since the entry may contain secrets that the journal's rules keep.
    public var customMirror: Mirror { Mirror(self, children: ["id": id], displayStyle: .class) }
}
