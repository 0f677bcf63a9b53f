internal import DunlinSecure

/// Random numbers for masks. Many are drawn at once, because one alone costs a system call, which is a large part of
/// sending a short message; not more, because each open socket keeps some. Nobody can predict them (RFC 6455 §5.3).
struct WebSocketMasks: RandomNumberGenerator, Sendable {
    private static let drawnAtOnce = 32
    private var numbers: [UInt64] = []

    mutating func next() -> UInt64 {
        if let number = numbers.popLast() { return number }
        numbers = SecureRandom.numbers(Self.drawnAtOnce)
        return numbers.popLast() ?? 0
    }
}
