internal import DunlinSemantics

/// Decides what a resumable download requests, and what a response means (RFC 9110 §13.1.5, §14).
///
/// Rules:
/// 1. The rest is requested only with a strong validator: by `Range`, and by `If-Range` so that a server whose file has
///    changed sends all of it. No content coding is ever requested, since a part of coded bytes is useless.
/// 2. 200 is the whole file, whatever was requested: the existing bytes are discarded.
/// 3. 206 is appended if it begins where the existing bytes end and has the same validator and length. An entity tag
///    must be repeated; a server that omits it has not checked `If-Range`. After any other 206 the whole is requested,
///    since a server that is wrong about ranges may be right about the whole; the existing bytes stay until it comes,
///    unless they are of another state of the file. The body must end where the head says; if it continues, it is
///    refused.
/// 4. 416 with the length of the existing bytes means that nothing was missing. After any other 416 the whole is
///    requested.
/// 5. A body that breaks is resumed if it began within this machine's life, up to `attempts` times without a new byte,
///    with growing waits. A body that ends too early counts as broken. Bodies that bring little are accepted
///    `smallPieceLimit` times, because the number of exchanges for a file must be limited. After a file has changed
///    `attempts` times, the download fails.
///
/// 6. The rest is useless if another user requested it, or another origin sent it, than the existing bytes: the same
///    validator may then name another file. So the whole is requested.
///
/// It must not know files, clocks or connections. It counts bytes as there when the driver reports them as written.
package struct ResumeMachine: Sendable {
    struct Rules: Sendable {
        /// How often to continue without a new byte, and how often to start over. With 0, never by itself.
        var attempts = 3
        var firstDelay = Duration.milliseconds(500)
        var longestDelay = Duration.seconds(30)
        /// How often a body may end early after less than a small piece.
        static let smallPieceLimit = 100
        static let smallPiece = 64 << 10

        static var smallPieceReason: String { "the server sends the file in too many small pieces" }

        /// The wait after this many attempts without a byte.
        func delay(_ attempt: Int) -> Duration {
            min(firstDelay * (1 << min(attempt, 30)), longestDelay)
        }
    }

    enum Ask: Sendable, Equatable {
        case whole
        /// The rest of the file; `upTo` is nil for up to its end.
        case rest(from: Int, upTo: Int? = nil, Validator)
    }

    /// What to do with a response.
    enum Action: Sendable, Equatable {
        /// The body is the whole file: remove the record, then the existing bytes, and write the body from 0 on.
        case startOver
        /// The body is this part of the file, which follows the existing bytes.
        case append(Range<Int>)
        /// All bytes are there; the body is not needed.
        case complete
        /// The body is useless; `ask` says what to send next.
        case askAgain
        /// The response is not about the file and is delivered like any other. The existing bytes stay.
        case deliver
        case refuse(Refusal)
    }

    /// Why a response cannot be appended. The existing bytes stay.
    package enum Refusal: Sendable, Equatable {
        case severalParts
        case coded
        case wrongRange
        case lengthChanged
        case unaskedRange
        case keepsChanging
    }

    /// What follows a body that ended as its framing said.
    enum Ending: Sendable, Equatable {
        case complete
        /// The server sent less than it has; `ask` says what to send next.
        case askAgain
        /// The body was shorter than announced.
        case tooShort
        /// Bodies brought little too often.
        case tooManySmallPieces
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
    /// The number of bytes that are there from the beginning on.
    private(set) var offset: Int
    /// Where the next existing bytes begin; nil if there are none.
    private(set) var limit: Int?
    /// Where the body being read ends; nil if its framing determines that.
    private(set) var bodyEnd: Int?
    private(set) var hasBegun = false
    /// Whether the whole is requested though there are good bytes.
    private var asksForWhole = false
    /// The number of bytes that were there when the last attempt began.
    private var mark: Int
    private var idleAttempts = 0
    private var restarts = 0
    private var smallPieces = 0

    init(_ rules: Rules = Rules()) {
        self.rules = rules
        offset = 0
        mark = 0
    }

    /// Continues from `offset`, up to which the existing bytes were verified. From `limit` on there are more; filling
    /// the gap after those is not this machine's task.
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
    /// Whether the request may be sent for a range. One that has a range of its own may not.
    static func mayResume(_ method: HTTP.Method, _ fields: Fields, hasBody: Bool) -> Bool {
        method == .get && !hasBody && !fields.contains("range") && !fields.contains("if-range")
    }

    /// The pieces that must be verified before resuming; empty if there is nothing to resume from. Other bytes of the
    /// part file do not count.
    ///
    /// The gaps between pieces can be requested only if the file's length is known.
    static func pieces(of data: ResumeData, partLength: Int) -> [ResumeData.Piece] {
        guard data.validator != nil else { return [] }
        let pieces = data.pieces.filter { $0.range.upperBound <= partLength }
        if data.completeLength != nil { return pieces }
        let end = data.with(pieces: pieces).offset
        return pieces.filter { $0.range.upperBound <= end }
    }

    var ask: Ask {
        guard !asksForWhole, offset > 0 || limit != nil, let validator else { return .whole }
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

    /// Whether the existing bytes could be resumed later, and are worth a record.
    var isResumable: Bool { validator != nil && mayHaveRanges && !isCoded }
}

// MARK: - Answers

extension ResumeMachine {
    /// The action for a response.
    ///
    /// With `isChanged`, the body is not what the server sent, and so not a part of the file. `isElsewhere`: it is for
    /// another user, from another origin, or in another form than the existing bytes.
    mutating func answered(_ head: ResponseHead, isChanged: Bool = false, isElsewhere: Bool = false) -> Action {
        if isChanged, head.status == .partialContent { return ask == .whole ? .refuse(.coded) : askForWholeInstead() }
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
        asksForWhole = false
        return .startOver
    }

    private mutating func part(_ fields: Fields, _ validator: Validator) -> Action {
        switch Self.part(fields, from: offset, validator, completeLength) {
        case .changed: return askForWhole()
        case .refused: return askForWholeInstead()
        case .part(let range, _) where range.upperBound > limit ?? .max: return askForWholeInstead()
        case .part(let range, let complete):
            completeLength = completeLength ?? complete
            mayHaveRanges = true
            mark = offset
            bodyEnd = range.upperBound
            hasBegun = true
            return .append(range)
        }
    }

    /// What a 206 is, for a request from `start` on.
    enum Part: Sendable, Equatable {
        case part(Range<Int>, complete: Int?)
        /// The part is of another or unknown state of the file.
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

    /// Notes that one of several exchanges found the file changed: the existing bytes are useless.
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

    /// The same after an answer that says nothing of the existing bytes: they stay, should the whole not come.
    private mutating func askForWholeInstead() -> Action {
        if let refusal = restart() { return refusal }
        asksForWhole = true
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
    /// Notes that the file is written up to `offset`.
    mutating func wrote(upTo offset: Int) {
        self.offset = offset
    }

    /// The end that the current body must not exceed; nil if it is unknown.
    var bodyLimit: Int? { bodyEnd ?? completeLength }

    mutating func ended() -> Ending {
        if let bodyEnd, offset < bodyEnd { return .tooShort }
        guard let completeLength else {
            return bodyEnd == nil ? .complete : isWorthAnother() ? .askAgain : .tooManySmallPieces
        }
        if offset >= completeLength { return .complete }
        if bodyEnd == nil { return .tooShort }
        return isWorthAnother() ? .askAgain : .tooManySmallPieces
    }

    /// Counts bodies that brought little. Those that brought nothing are counted elsewhere.
    private mutating func isWorthAnother() -> Bool {
        guard offset > mark, offset - mark < Rules.smallPiece else { return true }
        smallPieces += 1
        return smallPieces <= Rules.smallPieceLimit
    }

    /// Notes that the body broke, or the attempt to get the rest of it.
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
    /// The Content-Length; nil if there is none, if it is not a number, or if there are several that differ.
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
        case .keepsChanging: "the file, or what sends it, changes each time the rest of it is requested"
        }
    }
}
