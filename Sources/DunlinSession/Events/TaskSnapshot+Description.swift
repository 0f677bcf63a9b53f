internal import DunlinSemantics

extension HTTPSession.TaskSnapshot {
    /// The request as a shell command for `curl`: as it was sent last, with the fields that it had then, or as it is to
    /// be sent if it has not been. Nil for a request that had no observers when it was made, and is listed in `tasks`
    /// only; what hooks, events and handles show always has one.
    ///
    /// The values of secret fields, of a query and of a body whose names look like secrets are left out, unless
    /// `showingSecrets` asks for them. A body that is too long or cannot be read again is said in a line below the
    /// command. Nothing is made of this before it is called.
    public func curl(showingSecrets: Bool = false) -> String? {
        record.record?.curl(showingSecrets: showingSecrets)
    }

    /// The names that are left out of what is shown.
    var secretFields: HTTP.SecretFields { record.record?.settings.secretFields ?? .usual }
}

extension HTTPSession.TaskSnapshot: CustomStringConvertible, CustomReflectable {
    /// On one line: id, method, target as the program wrote it, state and phase; without the values of a query whose
    /// names look like secrets.
    public var description: String {
        let phase = phase.map { ", \($0.rawValue)" } ?? ""
        return VisibleText.of("\(id) \(method) \(shownTarget) (\(state.word)\(phase))")
    }

    public var customMirror: Mirror {
        Mirror(
            self,
            children: [
                "id": id, "kind": kind, "method": method, "targetTemplate": shownTarget, "label": label as Any,
                "tags": tags, "priority": priority, "state": state, "phase": phase as Any, "age": age,
            ], displayStyle: .struct)
    }

    /// The target as it may be shown.
    var shownTarget: String { WebAddress.named(targetTemplate, hiding: secretFields) }
}

extension HTTPSession.TaskSnapshot.State {
    fileprivate var word: String {
        switch self {
        case .waiting: "waiting"
        case .running(let hop): hop > 1 ? "running, hop \(hop)" : "running"
        case .waitingToRetry: "waiting to retry"
        case .suspended: "suspended"
        case .over: "over"
        }
    }
}
