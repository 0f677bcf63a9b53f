internal import DunlinTypes

/// How much of a request's two bodies has moved.
///
/// Rules:
/// 1. Nothing counts backwards: a body that is sent again counts from where it was once it gets further.
/// 2. Of responses, only the one that is delivered counts; what redirects and refusals bring is not what was asked for.
/// 3. Bytes on the wire are those of the content as it is coded, framing off; decoded bytes have the codings off too.
public struct Tally: Sendable, Hashable {
    /// Bytes of the request's body that the socket has taken.
    public private(set) var sent = 0
    /// Nil if it is not known beforehand.
    public private(set) var sentTotal: Int?
    public private(set) var received = 0
    public private(set) var receivedTotal: Int?
    private var decodedCount = 0
    private var isCoded = false
    /// The request has come to its end, whichever that was.
    public private(set) var isOver = false
    /// Of the present sending.
    private var sending = 0
    private var isReceiving = false
    /// Several exchanges bring the content, and none of them alone says how much has come.
    private var isTogether = false
    /// Bytes of the content that were there before the present response.
    private var base = 0

    public init() {}

    public var decoded: Int { isCoded ? decodedCount : received }

    /// A sending begins, for the first time or again.
    mutating func beginSending(_ total: Int?) {
        sending = 0
        sentTotal = total
    }

    mutating func sent(_ count: Int) {
        sending = sending.addingClamped(count)
        sent = max(sent, sending)
    }

    /// A response is to be delivered; `total` is what is still to come and has come of its content, which goes on after
    /// `base` bytes that are there already.
    mutating func beginReceiving(_ total: Int?, isCoded: Bool, after base: Int = 0) {
        self.isCoded = isCoded
        self.base = base
        isReceiving = true
        isTogether = false
        receivedTotal = total.map { base.addingClamped($0) }
        received = max(received, base)
    }

    /// Of the present response.
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
