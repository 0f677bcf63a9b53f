import DunlinInflate
import DunlinTypes
import DunlinWire

/// What a WebSocket server sends after the handshake, and the field in which it answers an offer of compression.
///
/// The first byte of an input says whether compression was agreed on (1), with what context (2) and window (4), and
/// whether messages are delivered whole (8). However the rest is cut, the same messages, control frames and error come
/// of it. Never is more kept than the limits allow. What a message says is sent and read back as it was.
enum FuzzWebSocket {
    static func violation(of input: [UInt8]) -> String? {
        guard let first = input.first else { return nil }
        let wire = Array(input.dropFirst())
        let plays = cuts(of: wire).map { WebSocketPlay(of: $0, options: first) }
        for play in plays {
            if let violation = play.violation { return violation }
            let isSame =
                play.events == plays[0].events && play.emptyFrames == plays[0].emptyFrames
                && play.error == plays[0].error
            if !isSame { return "\(plays[0].summary), and cut otherwise \(play.summary)" }
        }
        return textViolation(wire) ?? echoViolation(wire, options: first) ?? answerViolation(wire)
    }

    /// The standard library accepts the same texts.
    private static func textViolation(_ bytes: [UInt8]) -> String? {
        let isText = String(validating: bytes, as: UTF8.self) != nil
        for pieces in cuts(of: bytes) {
            var validator = UTF8Validator()
            let isValid = pieces.allSatisfy { piece in Bytes(piece).withUnsafeBytes { validator.take($0) } == nil }
            if (isValid && validator.isComplete) != isText { return "UTF-8: \(!isText) instead of \(isText)" }
        }
        return nil
    }

    /// A message that is sent, and whose frames a server sends back without the mask, is the same message.
    private static func echoViolation(_ content: [UInt8], options: UInt8) -> String? {
        do {
            var sender = WebSocketSendMachine(masks: SystemRandomNumberGenerator())
            var deflater = try MessageDeflater(
                windowBits: options & 4 != 0 ? 9 : 9 + Int(options >> 4) % 7, keepsContext: options & 2 != 0)
            let isCompressed = options & 1 != 0
            var wire: [UInt8] = []
            let pieces = cuts(of: content)[2] + [[]]
            for (index, piece) in pieces.enumerated() {
                let isLast = index == pieces.count - 1
                let bytes = isCompressed ? deflater.deflate(Bytes(piece), isLast: isLast) : Bytes(piece)
                var frame: [UInt8] = []
                try sender.append(
                    WebSocketPiece(.binary, bytes, isCompressed: isCompressed, isLast: isLast), into: &frame)
                wire += unmasked(frame)
            }
            let play = WebSocketPlay(of: [wire], options: options | 0x08)
            return play.events == [.message(.binary(Bytes(content)))] ? nil : "sent and read back: \(play.events)"
        } catch {
            return "\(error) when sending"
        }
    }

    private static func unmasked(_ frame: [UInt8]) -> [UInt8] {
        let lengthBytes = frame[1] & 0x7F == 126 ? 2 : frame[1] & 0x7F == 127 ? 8 : 0
        let mask = frame[(2 + lengthBytes)..<(6 + lengthBytes)].reduce(UInt32(0)) { $0 << 8 | UInt32($1) }
        var payload = Array(frame[(6 + lengthBytes)...])
        payload.withUnsafeMutableBytes { WebSocketMask(key: mask).copy(UnsafeRawBufferPointer($0), to: $0) }
        return [frame[0], frame[1] & 0x7F] + frame[2..<(2 + lengthBytes)] + payload
    }

    /// An answer to an offer is refused, or agrees on what zlib supports. What was read is read again as it is written.
    private static func answerViolation(_ bytes: [UInt8]) -> String? {
        guard let list = WebSocketExtension.list([Bytes(bytes)]) else { return nil }
        let text = list.map(\.text).joined(separator: ", ")
        if WebSocketExtension.list([Bytes(text)]) != list { return "read again it is another list: \(text)" }
        for element in list {
            guard let agreed = WebSocketDeflate.Offer().agreement(with: element.parameters) else { continue }
            let isSupported =
                WebSocketDeflate.clientWindows.contains(agreed.clientWindowBits)
                && WebSocketDeflate.serverWindows.contains(agreed.serverWindowBits)
            if !isSupported { return "a window that was not offered: \(agreed)" }
        }
        return nil
    }
}
