extension HTTPSession.Event: CustomStringConvertible, CustomReflectable {
    /// A line that says which request, and what happened to it, without what looks secret.
    public var description: String {
        switch self {
        case .resumed(let task): "\(Self.name(task)) resumed"
        case .suspended(let task): "\(Self.name(task)) suspended"
        case .waitingForConnectivity(let task, let error):
            "\(Self.name(task)) waits for a network: \(error.summary)"
        case .retrying(let task, let retry):
            "\(Self.name(task)) will be retried in \(retry.wait.readable): \(retry.cause)"
        case .reconnecting(let task, let reconnection): "\(Self.name(task)) reconnects, \(reconnection)"
        case .interimResponse(let task, let head): "\(Self.name(task)) got the interim response \(head.status)"
        case .reachability(let status): "the network's status: \(status)"
        case .downloadResumed(let task, let offset, let total):
            "\(Self.name(task)) continues after \(offset)\(total.map { " of \($0)" } ?? "") bytes"
        case .fileMoved(let task, let from, let to):
            VisibleText.of("\(Self.name(task)) moved its file from \(from) to \(to)")
        case .fileMoveFailed(let task, let error): "\(Self.name(task)) could not store its file: \(error.summary)"
        case .completed(let end): end.description
        case .journalEmptied(let folder): VisibleText.of("the journal in \(folder) has no unfinished transfer")
        case .journalIssue(_, let issue): VisibleText.of("a file of the journal was set aside: \(issue)")
        case .storingEnded(let task, let isStored):
            "\(Self.name(task)) \(isStored ? "stored its response" : "could not store its response")"
        case .shutDown: "the session is shut down"
        }
    }

    /// Shows nothing but the description.
    public var customMirror: Mirror { Mirror(self, children: ["event": description]) }

    private static func name(_ task: HTTPSession.TaskSnapshot) -> String {
        VisibleText.of("\(task.id) \(task.method) \(task.shownTarget)")
    }
}
