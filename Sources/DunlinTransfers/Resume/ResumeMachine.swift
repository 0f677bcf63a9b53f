internal import DunlinSemantics

/// Decides what a download that may be resumed asks for, and what the answer means (RFC 9110 §13.1.5, §14).
///
/// Rules:
/// 1. The rest is asked for only with a strong validator: `Range`, and `If-Range` so that a server whose file has
///    changed sends all of it. No content coding is ever asked for: a part of coded bytes is a part of nothing.
/// 2. 200 is the whole file, whatever was asked for: what is there is discarded.
/// 3. 206 is appended if it begins where we are, is of the same state and of the same length. An entity tag must be
///    repeated; a server that leaves it out has not checked `If-Range`, so the whole is asked for. The body must end
///    where the head says; one that goes on is refused before a byte of that is written.
/// 4. 416 with the length that is there means that nothing was missing. After any other 416 the whole is asked for.
/// 5. A body that breaks is resumed, if it had begun in this machine's life. That happens `attempts` times without a
///    byte in between, and later each time. A body that ends too early counts as broken. Bodies that bring little are
///    accepted `crumbs` times: a file is not worth any number of exchanges. After a file has changed `attempts` times
///    the download fails.
///
/// 6. What answers a request for the rest is of no use if somebody else asked, or another origin answered, than of whom
///    the bytes are that are there: the same validator may name another file. Then the whole is asked for.
///
/// It must not know files, clocks or connections. The bytes that it counts as there were written: the driver says so.
package struct ResumeMachine: Sendable {
    struct Rules: Sendable {
        /// How often to go on without a new byte, and how often to start over. None: never by itself.
        var attempts = 3
        var firstDelay = Duration.milliseconds(500)
        var longestDelay = Duration.seconds(30)
        /// How often a body may end early that brought less than a small piece.
        static let crumbs = 100
        static let smallPiece = 64 << 10

        static var crumbReason: String { "the server sends the file in too many small pieces" }

        /// How long to wait after so many attempts without a byte.
        func delay(_ attempt: Int) -> Duration {
            min(firstDelay * (1 << min(attempt, 30)), longestDelay)
        }
    }

    enum Ask: Sendable, Equatable {
        case whole
        /// Nil: up to the end.
        case rest(from: Int, upTo: Int? = nil, Validator)
    }

    /// What to do about a head.
    enum Action: Sendable, Equatable {
        /// The body is the whole file. The record is removed first, then the bytes that are there; then the body is
        /// written from 0 on.
        case startOver
        /// The body is this part of the file, which goes on where we are.
        case append(Range<Int>)
        /// All bytes are there already; the body is not needed.
        case complete
        /// The body is of no use, and `ask` says what to send next.
        case askAgain
        /// The response says nothing about the file, and is delivered as any response. The bytes that are there stay.
        case deliver
        case refuse(Refusal)
    }

    /// Why a response cannot be appended. The bytes that are there stay.
    package enum Refusal: Sendable, Equatable {
        case severalParts
        case coded
        case wrongRange
        case lengthChanged
        case unaskedRange
        case keepsChanging
    }

    /// What follows after a body that ended as its framing said.
    enum Ending: Sendable, Equatable {
        case complete
        /// The server sent less than it has; `ask` says what to send next.
        case askAgain
        /// Less than it announced.
        case tooShort
        /// Little, too often.
        case crumbs
    }

    enum Interruption: Sendable {
        case error(NetworkError)
        case status(HTTP.Status)
    }

    enum Continuation: Sendable, Equatable {
        case goOn(after: Duration)
        case giveUp
    }

    private let rules: Rules
    /// The server's validator of the file.
    private(set) var validator: Validator?
    private(set) var completeLength: Int?
    private var mayHaveRanges = true
    private var isCoded = false
    /// How many bytes are there, from the beginning on.
    private(set) var offset: Int
    /// Where the next bytes begin that are there; nil if there are none.
    private(set) var limit: Int?
    /// Where the body ends that is being read; nil if its framing says it.
    private(set) var bodyEnd: Int?
    private(set) var hasBegun = false
    /// Bytes that were there when the last attempt began.
    private var mark: Int
    private var idleAttempts = 0
    private var restarts = 0
    private var crumbs = 0

    init(_ rules: Rules = Rules()) {
        self.rules = rules
        offset = 0
        mark = 0
    }

    /// Goes on from `offset`, up to where what is there was found to be what the data say. From `limit` on there is
    /// more; who brings what is missing behind that is not for this machine.
    init(_ rules: Rules = Rules(), goingOnWith data: ResumeData, from offset: Int, upTo limit: Int? = nil) {
        self.rules = rules
        validator = data.validator.flatMap { Validator($0) }
        completeLength = data.completeLength
        self.offset = validator == nil ? 0 : offset
        self.limit = validator == nil ? nil : limit
        mark = self.offset
    }
}

// MARK: - Asking

extension ResumeMachine {
    /// Whether such a request may be sent for a range. One with a range of its own may not.
    static func mayResume(_ method: HTTP.Method, _ fields: Fields, hasBody: Bool) -> Bool {
        method == .get && !hasBody && !fields.contains("range") && !fields.contains("if-range")
    }

    /// The pieces that must be read again before one goes on; none if there is nothing to go on from. What the part
    /// file holds beside them counts for nothing.
    ///
    /// What is missing between pieces can be asked for only if the file's length is known.
    static func pieces(of data: ResumeData, partLength: Int) -> [ResumeData.Piece] {
        guard data.validator != nil else { return [] }
        let pieces = data.pieces.filter { $0.range.upperBound <= partLength }
        if data.completeLength != nil { return pieces }
        let end = data.with(pieces: pieces).offset
        return pieces.filter { $0.range.upperBound <= end }
    }

    var ask: Ask {
        guard offset > 0 || limit != nil, let validator else { return .whole }
        return .rest(from: offset, upTo: limit, validator)
    }

    /// The fields that replace the request's own.
    var fields: Fields {
        switch ask {
        case .whole: ["Accept-Encoding": "identity"]
        case .rest(let start, let end, let validator): Self.fields(for: start, upTo: end, validator)
        }
    }

    static func fields(for start: Int, upTo end: Int?, _ validator: Validator) -> Fields {
        let last = end.map { "\($0 - 1)" } ?? ""
        return ["Accept-Encoding": "identity", "Range": "bytes=\(start)-\(last)", "If-Range": validator.description]
    }

    /// Whether the bytes that are there could be resumed later, and are worth a record.
    var isResumable: Bool { validator != nil && mayHaveRanges && !isCoded }
}

// MARK: - Answers

extension ResumeMachine {
    ///
    /// With `isChanged`, the body is not what the server sent, and so no part of it. `isElsewhere`: it is not for the
    /// user, or not from the origin, of the bytes that are there.
    mutating func answered(_ head: ResponseHead, isChanged: Bool = false, isElsewhere: Bool = false) -> Action {
        if isChanged, head.status == .partialContent { return .refuse(.coded) }
        defer { if isChanged { (isCoded, completeLength) = (true, nil) } }
        switch (ask, head.status) {
        case (.whole, 200), (.whole, 203): return startOver(head.fields)
        case (.rest, 200), (.rest, 203): return restart() ?? startOver(head.fields)
        case (.whole, 206): return .refuse(.unaskedRange)
        case (.rest, 206) where isElsewhere, (.rest, 416) where isElsewhere: return askForWhole()
        case (.rest(_, _, let validator), 206): return part(head.fields, validator)
        case (.rest(_, _, let validator), 416): return unsatisfied(head.fields, validator)
        default: return .deliver
        }
    }

    private mutating func startOver(_ fields: Fields) -> Action {
        validator = Validator(fields)
        isCoded = Self.isCoded(fields)
        mayHaveRanges = AcceptRanges(fields) != .none
        completeLength = isCoded || fields.contains("transfer-encoding") ? nil : fields.contentLength
        (offset, limit) = (0, nil)
        mark = 0
        bodyEnd = nil
        hasBegun = true
        return .startOver
    }

    private mutating func part(_ fields: Fields, _ validator: Validator) -> Action {
        switch Self.part(fields, from: offset, validator, completeLength) {
        case .changed: return askForWhole()
        case .refused(let refusal): return .refuse(refusal)
        case .part(let range, _) where range.upperBound > limit ?? .max: return .refuse(.wrongRange)
        case .part(let range, let complete):
            completeLength = completeLength ?? complete
            mayHaveRanges = true
            mark = offset
            bodyEnd = range.upperBound
            hasBegun = true
            return .append(range)
        }
    }

    /// What a 206 is that was asked for from `start` on.
    enum Part: Sendable, Equatable {
        case part(Range<Int>, complete: Int?)
        /// The part is of another state of the file, or of an unknown one.
        case changed
        case refused(Refusal)
    }

    static func part(_ fields: Fields, from start: Int, _ validator: Validator, _ completeLength: Int?) -> Part {
        if fields["content-type"]?.lowercased().hasPrefix("multipart/byteranges") == true {
            return .refused(.severalParts)
        }
        if isCoded(fields) { return .refused(.coded) }
        switch (validator, validator.agreement(with: fields)) {
        case (_, .same), (.lastModified, .unsaid): break
        case (_, .changed), (.entityTag, .unsaid): return .changed
        }
        guard case .part(let range, let complete) = ContentRange(fields), range.lowerBound == start,
            fields.contentLength.map({ $0 == range.count }) ?? !fields.contains("content-length")
        else { return .refused(.wrongRange) }
        if let complete, let known = completeLength, complete != known { return .refused(.lengthChanged) }
        if let known = completeLength, range.upperBound > known { return .refused(.lengthChanged) }
        return .part(range, complete: complete)
    }

    /// One of several exchanges found that the file has changed: the bytes that are there are of no use.
    mutating func changed() -> Action { askForWhole() }

    private mutating func unsatisfied(_ fields: Fields, _ validator: Validator) -> Action {
        guard ContentRange(fields) == .unsatisfied(complete: offset), completeLength ?? offset == offset,
            validator.agreement(with: fields) != .changed
        else { return askForWhole() }
        completeLength = offset
        return .complete
    }

    private mutating func askForWhole() -> Action {
        if let refusal = restart() { return refusal }
        validator = nil
        completeLength = nil
        (offset, limit) = (0, nil)
        mark = 0
        return .askAgain
    }

    /// Counts a start over.
    private mutating func restart() -> Action? {
        restarts += 1
        return restarts > max(rules.attempts, 1) ? .refuse(.keepsChanging) : nil
    }

    private static func isCoded(_ fields: Fields) -> Bool {
        fields.values(of: "content-encoding").contains { value in
            value.split { $0 == "," || $0 == " " || $0 == "\t" }.contains { $0.lowercased() != "identity" }
        }
    }
}

// MARK: - Bodies

extension ResumeMachine {
    /// The file is written up to `offset`.
    mutating func wrote(upTo offset: Int) {
        self.offset = offset
    }

    /// The end that the body being read must not exceed; nil if it is unknown.
    var bodyLimit: Int? { bodyEnd ?? completeLength }

    mutating func ended() -> Ending {
        if let bodyEnd, offset < bodyEnd { return .tooShort }
        guard let completeLength else { return bodyEnd == nil ? .complete : isWorthAnother() ? .askAgain : .crumbs }
        if offset >= completeLength { return .complete }
        if bodyEnd == nil { return .tooShort }
        return isWorthAnother() ? .askAgain : .crumbs
    }

    /// Counts bodies that brought little. Those that brought nothing are counted elsewhere.
    private mutating func isWorthAnother() -> Bool {
        guard offset > mark, offset - mark < Rules.smallPiece else { return true }
        crumbs += 1
        return crumbs <= Rules.crumbs
    }

    /// The body broke, or what was to bring the rest of it did.
    mutating func interrupted(by cause: Interruption) -> Continuation {
        guard hasBegun, isResumable, cause.mayPass, isWorthAnother() else { return .giveUp }
        if offset > mark { idleAttempts = 0 }
        mark = offset
        guard idleAttempts < rules.attempts else { return .giveUp }
        defer { idleAttempts += 1 }
        return .goOn(after: rules.delay(idleAttempts))
    }
}

extension ResumeMachine.Interruption {
    /// Whether another attempt may succeed.
    var mayPass: Bool {
        switch self {
        case .error(let error) where error.isDecided: false
        case .error(let error):
            switch error.code {
            case .connectionClosed, .connectionFailed, .nameNotResolved: true
            case .timedOut: error.exceeded != .total && error.phase != .pool
            default: false
            }
        case .status(let status):
            switch status.code {
            case 408, 429, 500, 502, 503, 504: true
            default: false
            }
        }
    }
}

extension Fields {
    /// Nil without one, and with one that is no number or several that differ.
    fileprivate var contentLength: Int? {
        let values = Set(values(of: "content-length"))
        guard values.count == 1, let value = values.first, value.utf8.allSatisfy({ $0 &- 0x30 < 10 }) else {
            return nil
        }
        return Int(value)
    }
}

extension ResumeMachine.Refusal: CustomStringConvertible {
    package var description: String {
        switch self {
        case .severalParts: "the server sent several parts of the file in one response"
        case .coded: "the server sent a part of the file with a content coding, or an interceptor changed it"
        case .wrongRange: "the server sent another part of the file than was requested"
        case .lengthChanged: "the length of the file has changed, though the server says that the file is the same"
        case .unaskedRange: "the server sent a part of the file though all of it was requested"
        case .keepsChanging: "the file changes each time the rest of it is requested"
        }
    }
}
