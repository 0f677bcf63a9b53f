internal import Dunlin
internal import FoundationEssentials

/// What is known of an exchange that has ended, before it is written: parts are shared, nothing is encoded yet.
struct Draft: Sendable {
    /// Bytes of a body, as far as they are kept.
    struct Body: Sendable {
        private(set) var pieces: [Bytes] = []
        private(set) var kept = 0
        private(set) var count = 0
        /// How many are kept at most; nil for none.
        private let limit: Int?

        init(limit: Int?) { self.limit = limit }

        mutating func append(_ piece: Bytes) {
            count += piece.count
            guard let limit, kept < limit else { return }
            let part = piece[0..<min(piece.count, limit - kept)]
            pieces.append(part)
            kept += part.count
        }

        mutating func removeAll() { self = Body(limit: limit) }

        var isWhole: Bool { kept == count }
        var bytes: Bytes { pieces.count == 1 ? pieces[0] : Bytes(pieces.flatMap(\.array)) }
    }

    let date: Date
    let task: HTTPSession.TaskSnapshot
    /// The head that is recorded, if no request was sent.
    var head: RequestHead
    var exchange: Int?
    var attempt: Int?
    var request: TransportRequest?
    var sent: Body
    var response: ResponseHead?
    var received: Body
    var hop: HTTP.Hop?
    var error: (any Error)?
    var fromCache: String?
    var redirect: String?

    init(_ date: Date, _ task: HTTPSession.TaskSnapshot, _ head: RequestHead, bodies limit: Int?) {
        (self.date, self.task, self.head) = (date, task, head)
        (sent, received) = (Body(limit: limit), Body(limit: limit))
    }

    /// About how much memory it holds on to.
    var size: Int { 1024 + sent.kept + received.kept }
}
