internal import DunlinTypes

/// How many bytes of a call's two bodies have been transferred.
///
/// Rules:
/// 1. No number goes down: a body that is sent again counts once it gets further than before.
/// 2. Only the response that is delivered counts; the bodies of redirects and refusals are not what was asked for.
/// 3. Bytes on the wire are those of the content as it is coded, framing off; decoded bytes have the codings off too.
public struct Tally: Sendable, Hashable {
    /// Bytes of the request's body that the socket has taken.
    public private(set) var sent = 0
    /// The length of the request's body; nil if it is not known beforehand.
    public private(set) var sentTotal: Int?
    public private(set) var received = 0
    public private(set) var receivedTotal: Int?
    private var decodedCount = 0
    private var isCoded = false
    /// Whether the call is over, whatever its outcome.
    public private(set) var isOver = false
    /// Bytes of the present exchange's request body.
    private var sending = 0
    private var isReceiving = false
    /// Whether several exchanges bring the content, of which none alone says how much has come.
    private var isTogether = false
    /// Bytes of the content that were there before the present response.
    private var base = 0

    public init() {}

    public var decoded: Int { isCoded ? decodedCount : received }

    /// The body begins to be sent, for the first time or again.
    mutating func beginSending(_ total: Int?) {
        sending = 0
        sentTotal = total
    }

    mutating func sent(_ count: Int) {
        sending = sending.addingClamped(count)
        sent = max(sent, sending)
    }

    /// A response is to be delivered. `total` is how much of its content has come and is still to come; it goes on
    /// after `base` bytes that are there already.
    mutating func beginReceiving(_ total: Int?, isCoded: Bool, after base: Int = 0) {
        self.isCoded = isCoded
        self.base = base
        isReceiving = true
        isTogether = false
        receivedTotal = total.map { base.addingClamped($0) }
        received = max(received, base)
    }

    /// Bytes of the present response's body.
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
