extension TransferJournal: CustomStringConvertible, CustomReflectable {
    /// The folder.
    public var description: String { "TransferJournal(\(VisibleText.of(folder)))" }

    public var customMirror: Mirror { Mirror(self, children: ["folder": folder], displayStyle: .class) }
}

extension TransferJournal.Transfer: CustomStringConvertible, CustomReflectable {
    /// Names the transfer by its id.
    public var description: String { "Transfer(\(id))" }

    /// Its entry may have the secrets that the journal's rules keep.
    public var customMirror: Mirror { Mirror(self, children: ["id": id], displayStyle: .class) }
}
