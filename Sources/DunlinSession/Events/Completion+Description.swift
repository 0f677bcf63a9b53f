internal import DunlinSemantics

extension HTTPSession.Completion: CustomStringConvertible, CustomReflectable {
    /// A line with ID, method, URL, status or error, and duration. User info, and query values whose names look secret,
    /// are left out; `url` has all of the query.
    public var description: String {
        let answer = response.map { "\($0.status) \($0.status.phrase)" }
        let failure = (error as? NetworkError)?.summary ?? error.map { "\($0)" }
        let said = [failure ?? answer, metrics.hops.isEmpty ? nil : "\(metrics.total)"].compactMap(\.self)
        return VisibleText.of("\(task.id) \(task.method) \(shownURL): \(said.joined(separator: ", "))")
    }

    /// Hides the body and its value, which are the caller's.
    public var customMirror: Mirror {
        Mirror(
            self,
            children: [
                "task": task, "url": shownURL, "response": response as Any,
                "body": body.map { "\($0.count) bytes" } as Any,
                "file": file as Any, "error": error as Any, "metrics": metrics,
            ], displayStyle: .struct)
    }

    /// The URL as in errors.
    package var shownURL: String { WebAddress.named(url, hiding: task.secretFields) }
}
