package import DunlinSemantics

/// What a server said that was asked for a range of a file whose state and length are known, beside others.
package enum SegmentAnswer: Sendable, Equatable {
    /// This comes: what was asked for, or the beginning of it.
    case part(Range<Int>)
    /// The file is another.
    case changed
    /// It may be otherwise in a moment.
    case busy
    case useless(Uselessness)

    /// Why an answer brings nothing, and another would bring nothing either.
    package enum Uselessness: Sendable, Equatable {
        /// All of the same file, whatever is asked for.
        case ignoresRanges
        case refused(ResumeMachine.Refusal)
        case status
        /// Of another origin, to which a redirect led: what it calls by the same name may be another file.
        case elsewhere
        /// Too little, and not for the first time.
        case crumb
    }

    /// `isElsewhere`: another origin answered than the one whose file the validator names.
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
        // With the state that it had the range would be there.
        case 416: self = .changed
        default: self = ResumeMachine.Interruption.status(head.status).mayPass ? .busy : .useless(.status)
        }
    }
}
