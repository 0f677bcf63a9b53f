import Dunlin
import DunlinTesting

/// Says whether a WebSocket ended as it may.
struct SocketJudge {
    private let plan: PlannedSocket
    private let label: String
    private let tally: Tally
    private let disturbance: Disturbance
    private let progress: Conversation.Progress

    init(
        _ plan: PlannedSocket, _ label: String, _ tally: Tally, _ disturbance: Disturbance,
        _ progress: Conversation.Progress
    ) {
        (self.plan, self.label, self.tally) = (plan, label, tally)
        (self.disturbance, self.progress) = (disturbance, progress)
    }

    func judge(_ result: Result<Conversation.Outcome, any Error>) {
        let complaint: String?
        switch result {
        case .success(.left):
            tally.count("socket: left")
            complaint = nil
        case .success(.complete(let code)):
            tally.count("socket: complete")
            complaint = self.complaint(aboutEndWith: code)
        case .failure(let error as NetworkError):
            tally.count("socket: \(error.code)\(progress.isOpen ? "" : " (\(error.phase?.rawValue ?? "no phase"))")")
            complaint = (progress.isOpen ? complaintAfterOpening(error) : complaintBeforeOpening(error)).map {
                "\($0): \(error)"
            }
        case .failure(let error as CancellationError):
            tally.count("socket: CancellationError")
            complaint = isCancelledByTask ? nil : "\(error) though nobody cancelled its task"
        case .failure(let error):
            complaint = "\(error)"
        }
        if !plan.host.isBelieved, progress.isOpen { tally.violation("\(label): \(plan.host) was believed") }
        if let complaint {
            tally.violation("\(label), \(plan.trouble), after \(progress.count) messages: \(complaint)")
        }
    }

    private var isCancelledByTask: Bool { if case .task = plan.cancel { true } else { false } }

    private var isCancelledByHandle: Bool { if case .handle = plan.cancel { true } else { false } }

    /// Somebody may have closed the connection.
    private var isDisturbed: Bool {
        disturbance.isOver || disturbance.isAlone || isCancelledByHandle || isCancelledByTask
    }

    private func complaint(aboutEndWith code: HTTPSession.WebSocket.CloseCode?) -> String? {
        if case .badAcceptance = plan.trouble { return "nothing was noticed" }
        // A session that is shut down with a grace closes its sockets, and then their messages end without an error.
        if disturbance.isOver { return nil }
        switch plan.trouble {
        // The client had all that it waited for, and left before.
        case .wrong(_, let count): if !plan.isEndedByClient || count < plan.count { return "nothing was noticed" }
        case .none, .fault, .pings, .badAcceptance: break
        }
        if progress.count < plan.count { return "only part of \(plan.count) messages, and no error" }
        if case .server(let expected) = plan.end, code?.rawValue != expected {
            return "closed with \(code.map { "\($0)" } ?? "no code")"
        }
        return nil
    }

    private func complaintBeforeOpening(_ error: NetworkError) -> String? {
        switch error.code {
        case .timedOut: return error.exceeded == nil ? "no limit is named" : nil
        case .connectionClosed, .connectionFailed, .secureConnectionFailed:
            return error.phase == nil ? "no phase is named" : nil
        case .serverTrustFailed: return plan.host.isBelieved ? "a good server was refused" : nil
        case .upgradeRefused:
            if case .fault(.unavailable) = plan.trouble { return nil }
            return "it was refused"
        case .invalidResponse:
            if case .badAcceptance = plan.trouble { return nil }
            return "the answer was right"
        default: return complaintAboutEnd(error)
        }
    }

    private func complaintAfterOpening(_ error: NetworkError) -> String? {
        if error.request == nil { return "no request is named" }
        switch (error.code, plan.trouble) {
        case (.timedOut, _): return nil
        case (.connectionClosed, _) where isDisturbed: return nil
        case (.connectionClosed, .fault(let fault)): return Self.cuts(fault) ? nil : "nothing cuts it"
        case (.webSocketFailed, .wrong(let frame, let count)), (.limitExceeded, .wrong(let frame, let count)):
            if error.code != frame.code { return "it should be \(frame.code)" }
            // What came before it was right.
            return isDisturbed || progress.count == count ? nil : "\(count) messages came before it"
        default: return complaintAboutEnd(error)
        }
    }

    private func complaintAboutEnd(_ error: NetworkError) -> String? {
        switch error.code {
        case .cancelled: return disturbance.isOver || isCancelledByHandle ? nil : "nobody cancelled it"
        case .sessionShutDown: return disturbance.isOver ? nil : "nobody shut the session down"
        default: return "unexpected"
        }
    }

    private static func cuts(_ fault: Fault) -> Bool {
        switch fault {
        case .refused, .reset, .truncated, .wrongLength: true
        default: false
        }
    }
}
