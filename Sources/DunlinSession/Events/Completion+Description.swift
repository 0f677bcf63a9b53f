internal import DunlinSemantics

extension HTTPSession.Completion: CustomStringConvertible, CustomReflectable {
    /// On one line: id, method, URL, status or error, and the time it took. Without user info, and without the values
    /// of a query whose names look like secrets; `url` has all of it.
    public var description: String {
        let answer = response.map { "\($0.status) \($0.status.phrase)" }
        let failure = (error as? NetworkError)?.summary ?? error.map { "\($0)" }
        let said = [failure ?? answer, metrics.hops.isEmpty ? nil : "\(metrics.total)"].compactMap(\.self)
        return VisibleText.of("\(task.id) \(task.method) \(shownURL): \(said.joined(separator: ", "))")
    }

    /// The body and the value made of it are the caller's, and not shown.
    public var customMirror: Mirror {
        Mirror(
            self,
            children: [
                "task": task, "url": shownURL, "response": response as Any,
                "body": body.map { "\($0.count) bytes" } as Any,
                "file": file as Any, "error": error as Any, "metrics": metrics,
            ], displayStyle: .struct)
    }

    /// The URL as errors name it.
    package var shownURL: String { WebAddress.named(url, hiding: task.secretFields) }
}
