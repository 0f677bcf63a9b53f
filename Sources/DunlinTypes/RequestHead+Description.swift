extension RequestHead: CustomStringConvertible, CustomReflectable {
    /// The request line and one field a line, without what looks secret. Of the session's own secret names, only fields
    /// that were marked with them are known here.
    public var description: String {
        let line = VisibleText.of("\(method) \(origin)\(shownTarget)")
        return fields.isEmpty ? line : "\(line)\n\(fields)"
    }

    public var customMirror: Mirror {
        Mirror(
            self, children: ["method": method, "origin": origin, "target": shownTarget, "fields": fields],
            displayStyle: .struct)
    }

    private var shownTarget: String { SecretText.masked(target, as: .link) }
}
