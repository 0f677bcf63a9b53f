internal import DunlinTypes

/// The numbers of bytes of a call's two bodies that have been transferred.
///
/// Rules:
/// 1. No number decreases: a body that is sent again counts when it gets further than before.
/// 2. Only the delivered response counts, not the bodies of redirects and refusals.
/// 3. Bytes on the wire are those of the coded content without framing; decoded bytes are without codings, too.
public struct Tally: Sendable, Hashable {
    /// The number of bytes of the request's body that the socket has taken; after a 101, also of what was written then.
    public private(set) var sent = 0
    /// The length of the request's body; nil if it is not known beforehand.
    public private(set) var sentTotal: Int?
    public private(set) var received = 0
    public private(set) var receivedTotal: Int?
    private var decodedCount = 0
    private var isCoded = false
    /// Whether the call is over, with any outcome.
    public private(set) var isOver = false
    /// The bytes of the current exchange's request body.
    private var sending = 0
    private var isReceiving = false
    /// Whether several exchanges bring the content, so that none alone says how much has come.
    private var isTogether = false
    /// The bytes of the content that were there before the current response.
    private var base = 0

    public init() {}

    public var decoded: Int { isCoded ? decodedCount : received }

    /// Begins sending the body, for the first time or again.
    mutating func beginSending(_ total: Int?) {
        sending = 0
        sentTotal = total
    }

    mutating func sent(_ count: Int) {
        sending = sending.addingClamped(count)
        sent = max(sent, sending)
    }

    /// Notes that the connection speaks another protocol: what is sent from now on follows the body, without a known
    /// end.
    mutating func switchedProtocols() {
        sentTotal = nil
    }

    /// Begins a response to deliver. `total` is the size of its content; it follows `base` bytes that are there
    /// already.
    mutating func beginReceiving(_ total: Int?, isCoded: Bool, after base: Int = 0) {
        self.isCoded = isCoded
        self.base = base
        isReceiving = true
        isTogether = false
        receivedTotal = total.map { base.addingClamped($0) }
        received = max(received, base)
    }

    /// Counts the bytes of the current response's body.
    mutating func received(upTo count: Int) {
        if isReceiving, !isTogether { received = max(received, base.addingClamped(count)) }
    }

    mutating func receiveTogether() {
        isTogether = true
    }

    mutating func receivedTogether(_ count: Int) {
        if isTogether { received = max(received, count) }
    }

    mutating func decoded(upTo count: Int) {
        if isReceiving { decodedCount = max(decodedCount, count) }
    }

    mutating func end() {
        isOver = true
    }
}
