internal import Dunlin
internal import FoundationEssentials

/// What is known of an exchange that has ended, before it is written: nothing is encoded yet.
struct Draft: Sendable {
    /// Bytes of a body, as far as they are kept. They are copied: a piece may be a small part of a large buffer.
    struct Body: Sendable {
        private(set) var kept: [UInt8] = []
        private(set) var count = 0
        /// How many are kept at most; nil for none.
        private let limit: Int?

        init(limit: Int?) { self.limit = limit }

        mutating func append(_ piece: Bytes) {
            count += piece.count
            if let limit, kept.count < limit { kept += piece[0..<min(piece.count, limit - kept.count)] }
        }

        mutating func removeAll() { self = Body(limit: limit) }

        var isWhole: Bool { kept.count == count }
    }

    let date: Date
    let task: HTTPSession.TaskSnapshot
    /// The head that was sent, or that would have been.
    var head: RequestHead
    var exchange: Int?
    var attempt: Int?
    /// Whether the request has a body.
    var hasBody = false
    var contentType: String?
    var contentEncoding: String?
    /// The file that the request's body is.
    var file: RequestBody.File?
    var sent: Body
    /// The bytes of a streamed body are not known before it is sent, so it may be framed by chunks.
    var isStreamed = false
    var interim: [ResponseHead] = []
    var response: ResponseHead?
    var received: Body
    var hop: HTTP.Hop?
    var error: (any Error)?
    var fromCache: String?

    init(_ date: Date, _ task: HTTPSession.TaskSnapshot, _ head: RequestHead, bodies limit: Int?) {
        (self.date, self.task, self.head) = (date, task, head)
        (sent, received) = (Body(limit: limit), Body(limit: limit))
    }

    /// Notes a request that is sent, without holding on to its body.
    mutating func note(_ request: TransportRequest) {
        (head, hasBody) = (request.head, !request.body.isNone)
        (contentType, contentEncoding) = (request.body.contentType, request.body.contentEncoding)
        (file, isStreamed) = (nil, false)
        sent.removeAll()
        switch request.body.content {
        case .bytes(let bytes): sent.append(bytes)
        case .file(let file): self.file = file
        case .stream: isStreamed = true
        case .none: break
        }
    }

    /// About how much memory it holds on to.
    var size: Int { 2048 + sent.kept.count + received.kept.count }
}
