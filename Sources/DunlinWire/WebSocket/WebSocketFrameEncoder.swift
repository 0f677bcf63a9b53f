package import DunlinTypes

/// Writes a client's frames (RFC 6455 §5.2).
package enum WebSocketFrameEncoder {
    /// The longest head: opcode, length and mask.
    static let longestHead = 14

    /// Appends a frame: its head, and the payload masked. The payload has the head's length.
    package static func append(
        _ head: WebSocketFrameHead, _ payload: borrowing Bytes, mask: WebSocketMask, into buffer: inout [UInt8]
    ) {
        payload.withUnsafeBytes { payload in
            buffer.append(addingCapacity: longestHead + payload.count) { output in
                output.withUnsafeMutableBufferPointer { memory, count in
                    count = write(head, mask, to: memory)
                    let target = UnsafeMutableRawBufferPointer(
                        rebasing: UnsafeMutableRawBufferPointer(memory)[count...])
                    mask.copy(payload, to: target)
                    count += payload.count
                }
            }
        }
    }

    /// Writes a head; returns its length.
    private static func write(
        _ head: WebSocketFrameHead, _ mask: WebSocketMask, to memory: UnsafeMutableBufferPointer<UInt8>
    ) -> Int {
        memory[0] = (head.isFinal ? 0x80 : 0) | (head.isCompressed ? 0x40 : 0) | head.opcode.rawValue
        let (short, lengthBytes) =
            switch head.length {
            case ...125: (UInt8(head.length), 0)
            case ...0xFFFF: (UInt8(126), 2)
            default: (UInt8(127), 8)
            }
        memory[1] = 0x80 | short
        var count = 2
        put(UInt64(head.length), lengthBytes, to: memory, at: &count)
        put(UInt64(mask.key), 4, to: memory, at: &count)
        return count
    }

    /// Writes the lowest bytes of a number, the highest of them first.
    private static func put(
        _ number: UInt64, _ byteCount: Int, to memory: UnsafeMutableBufferPointer<UInt8>, at count: inout Int
    ) {
        for index in 0..<byteCount {
            memory[count] = UInt8(truncatingIfNeeded: number >> UInt64(8 * (byteCount - 1 - index)))
            count += 1
        }
    }
}
