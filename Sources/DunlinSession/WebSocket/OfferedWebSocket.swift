internal import DunlinSecure
internal import DunlinWire
internal import Synchronization

/// The handshake of a socket that is being opened. Each sending of the request has a key of its own, so that an answer
/// to an earlier one opens nothing.
///
/// The halves of the key are two atomics: a request is sent once at a time, and its answer is read after the last
/// sending. An answer fits no mix of two keys.
final class OfferedWebSocket: Sendable {
    private let offer: WebSocketHandshake
    private let first: Atomic<UInt64>
    private let second: Atomic<UInt64>

    init(_ subprotocols: [String], _ deflate: WebSocketDeflate.Offer?) throws(WebSocketHandshakeError) {
        let numbers = SecureRandom.numbers(2)
        first = Atomic(numbers[0])
        second = Atomic(numbers[1])
        let key = numbers.withUnsafeBytes { Bytes(Array($0)) }
        offer = try WebSocketHandshake(key: key, subprotocols: subprotocols, deflate: deflate)
    }

    /// The handshake of the latest sending.
    var latest: WebSocketHandshake {
        var handshake = offer
        handshake.renew(first.load(ordering: .relaxed), second.load(ordering: .relaxed))
        return handshake
    }

    /// Begins another sending. Returns the fields in which it differs from the others.
    func renewed() -> Fields {
        let numbers = SecureRandom.numbers(2)
        first.store(numbers[0], ordering: .relaxed)
        second.store(numbers[1], ordering: .relaxed)
        return latest.keyField
    }
}
