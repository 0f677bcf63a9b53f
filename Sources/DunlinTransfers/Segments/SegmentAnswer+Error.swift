internal import DunlinTransport

extension SegmentAnswer.Uselessness {
    /// The error for an answer that brought nothing.
    func error(_ head: ResponseHead) -> NetworkError {
        let (code, reason): (NetworkError.Code, String) =
            switch self {
            case .ignoresRanges: (.invalidResponse, "the server sent the whole file although a part was requested")
            case .refused(let refusal): (.invalidResponse, "\(refusal)")
            case .elsewhere:
                (.invalidResponse, "a part of the file came from another path than the first, or for another user")
            case .tooSmall: (.invalidResponse, ResumeMachine.Rules.smallPieceReason)
            case .status:
                (.unacceptableStatus, "the server answered a request for a part with status \(head.status.code)")
            }
        return NetworkError(code, reason, phase: .receive, requestMayHaveBeenSent: true, response: head)
    }
}
