internal import DunlinSemantics

extension HTTPSession.Exchange: CustomStringConvertible, CustomReflectable {
    /// The URL that the exchange is for, as errors show it: without user info, and with asterisks for values whose
    /// names look secret or are among the session's `secretFields`.
    public var shownURL: String { WebAddress.named("\(head.origin)\(head.target)", hiding: task.secretFields) }

    /// A line with the ID of the request, the number of the exchange, its method, and its URL without secrets.
    public var description: String { VisibleText.of("\(task.id) exchange \(number): \(head.method) \(shownURL)") }

    public var customMirror: Mirror {
        Mirror(
            self,
            children: [
                "task": task, "method": head.method, "url": shownURL, "fields": head.fields, "number": number,
                "attempt": attempt, "isElsewhere": isElsewhere,
            ], displayStyle: .struct)
    }
}
