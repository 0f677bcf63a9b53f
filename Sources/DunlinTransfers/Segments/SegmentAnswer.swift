package import DunlinSemantics

/// What a server answered to a request for a range of a file whose state and length are known, among other requests.
package enum SegmentAnswer: Sendable, Equatable {
    /// This range comes: the requested one, or its beginning.
    case part(Range<Int>)
    /// The file has changed.
    case changed
    /// The server is busy; another attempt may succeed.
    case busy
    case useless(Uselessness)

    /// Why an answer brings nothing, nor would another.
    package enum Uselessness: Sendable, Equatable {
        /// The server sends the whole file for any range.
        case ignoresRanges
        case refused(ResumeMachine.Refusal)
        case status
        /// The answer is from another origin, reached by a redirect, or for another user: the same validator may name
        /// another file there.
        case elsewhere
        /// The answer brings too little, and is not the first that does.
        case tooSmall
    }

    /// Classifies an answer. `isElsewhere`: another origin answered than the one of the validator, or another user
    /// asked.
    package init(
        _ head: ResponseHead, isElsewhere: Bool = false, to range: Range<Int>, _ validator: Validator, of length: Int
    ) {
        switch head.status {
        case 200 where isElsewhere, 203 where isElsewhere, 206 where isElsewhere, 416 where isElsewhere:
            self = .useless(.elsewhere)
        case 206:
            switch ResumeMachine.part(head.fields, from: range.lowerBound, validator, length) {
            case .part(let brought, _) where brought.upperBound <= range.upperBound: self = .part(brought)
            case .part: self = .useless(.refused(.wrongRange))
            case .changed: self = .changed
            case .refused(let refusal): self = .useless(.refused(refusal))
            }
        case 200, 203: self = validator.agreement(with: head.fields) == .changed ? .changed : .useless(.ignoresRanges)
        // If the file had not changed, the range would exist.
        case 416: self = .changed
        default: self = ResumeMachine.Interruption.status(head.status).mayPass ? .busy : .useless(.status)
        }
    }
}
