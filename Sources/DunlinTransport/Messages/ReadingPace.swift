/// Decides how a long body is read: the size of reads, and how much must have come before the reader is woken.
///
/// Rules:
/// 1. Reads begin small. A read that fills its buffer shows that the peer is faster, so the next one asks for more.
/// 2. A reader that keeps up with its peer would be woken for every few kilobytes. So after a larger read was filled
///    too, the socket's low-water mark is raised: the kernel reports input only when two full reads are there.
///    (Measured on loopback: half the processor time for each byte, and twice the rate.)
/// 3. The mark is never higher than what is certain to come before the peer may pause for good: the rest of a known
///    length or of a chunk. A body that ends with the connection counts as endless, because its end wakes the reader.
/// 4. If a peer does not reach the mark within `longestWait`, the mark is removed, what is there is read, and reads
///    begin small again.
///
/// It must know neither sockets nor clocks.
struct ReadingPace: Equatable {
    private enum Speed: Equatable {
        case starting
        case filling
        /// Large reads are filled, too.
        case leading
    }

    static let firstRead = 64 * 1024
    static let bulkRead = 256 * 1024
    static let mark = 2 * bulkRead
    /// The longest wait for the mark, in nanoseconds.
    static let longestWait: Int64 = 2_000_000
    /// The mark of one byte, which has no effect.
    static let noMark = 1

    private var speed = Speed.starting
    /// The socket's current mark.
    private(set) var lowWater = noMark

    var isMarked: Bool { lowWater != Self.noMark }

    /// How many bytes to ask for.
    var readSize: Int { speed == .starting ? Self.firstRead : Self.bulkRead }

    /// Notes that a read brought `count` bytes.
    mutating func took(_ count: Int) {
        guard count >= readSize else { return }
        speed = speed == .starting ? .filling : .leading
    }

    /// The mark to set before a wait with this many bytes certain to come; nil for no change.
    mutating func beforeWait(certain: Int) -> Int? {
        change(to: speed == .leading && certain >= Self.mark ? Self.mark : Self.noMark)
    }

    /// The mark to set if the mark was not reached in time; nil for no change.
    mutating func fellBehind() -> Int? {
        speed = .starting
        return change(to: Self.noMark)
    }

    /// The mark to set when the body has ended and its connection may serve another request; nil for no change.
    mutating func end() -> Int? {
        change(to: Self.noMark)
    }

    private mutating func change(to mark: Int) -> Int? {
        guard mark != lowWater else { return nil }
        lowWater = mark
        return mark
    }
}
