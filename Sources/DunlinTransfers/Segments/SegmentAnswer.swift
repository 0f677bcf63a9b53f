package import DunlinSemantics

/// What a server answered to a request for a range of a file whose state and length are known, beside other requests.
package enum SegmentAnswer: Sendable, Equatable {
    /// This range comes: the one that was asked for, or the beginning of it.
    case part(Range<Int>)
    /// The file has changed.
    case changed
    /// The server is busy; another attempt may succeed.
    case busy
    case useless(Uselessness)

    /// Why an answer brings nothing, and another would bring nothing either.
    package enum Uselessness: Sendable, Equatable {
        /// The server sends all of the file, whatever range is asked for.
        case ignoresRanges
        case refused(ResumeMachine.Refusal)
        case status
        /// The answer is of another origin, to which a redirect led, or for another user: the same validator may name
        /// another file there.
        case elsewhere
        /// The answer brings too little, and not for the first time.
        case crumb
    }

    /// `isElsewhere`: another origin answered than the one whose file the validator names, or another user asked.
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
        // If the file had not changed, the range would be there.
        case 416: self = .changed
        default: self = ResumeMachine.Interruption.status(head.status).mayPass ? .busy : .useless(.status)
        }
    }
}
