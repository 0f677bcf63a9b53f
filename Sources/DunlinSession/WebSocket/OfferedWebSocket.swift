internal import DunlinSecure
internal import DunlinWire
internal import Synchronization

/// The handshake of a socket that is being opened. Each sending of the request has a key of its own, so that an answer
/// to an earlier one opens nothing.
final class OfferedWebSocket: Sendable {
    private let handshake: Mutex<WebSocketHandshake>

    init(_ subprotocols: [String], _ deflate: WebSocketDeflate.Offer?) throws(WebSocketHandshakeError) {
        let key = SecureRandom.numbers(2).withUnsafeBytes { Bytes(Array($0)) }
        handshake = Mutex(try WebSocketHandshake(key: key, subprotocols: subprotocols, deflate: deflate))
    }

    /// The handshake of the latest sending.
    var latest: WebSocketHandshake { handshake.withLock { $0 } }

    /// Begins another sending. Returns the fields in which it differs from the others.
    func renewed() -> Fields {
        let numbers = SecureRandom.numbers(2)
        return handshake.withLock { handshake in
            handshake.renew(numbers[0], numbers[1])
            return handshake.keyField
        }
    }
}
