internal import DunlinSemantics

extension HTTPSession.TaskSnapshot {
    /// Returns the request as a shell command for `curl`: as it was last sent, with its fields then, or as it will be
    /// sent. Nil for a snapshot from `tasks` of a request that had no observers when it was made; snapshots from hooks,
    /// events and handles always have a command.
    ///
    /// Secret fields, and values in a query or body whose names look secret, are left out unless `showingSecrets` asks
    /// for them. If the body is too long or cannot be read again, a line below the command says so. The command is made
    /// only when this is called.
    public func curl(showingSecrets: Bool = false) -> String? {
        record.record?.curl(showingSecrets: showingSecrets)
    }

    /// The names whose values are not shown.
    package var secretFields: HTTP.SecretFields { record.record?.settings.secretFields ?? .usual }
}

extension HTTPSession.TaskSnapshot: CustomStringConvertible, CustomReflectable {
    /// A line with ID, method, target as the program wrote it, state and phase, without query values whose names look
    /// secret.
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

    /// The target without secrets.
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
