import DunlinWire

/// A frame as a server writes it, with any fault in its first byte.
func frame(
    _ opcode: UInt8, _ payload: [UInt8] = [], isFinal: Bool = true, reserved: UInt8 = 0
) -> [UInt8] {
    var bytes = [(isFinal ? 0x80 : 0) | reserved << 4 | opcode]
    switch payload.count {
    case ...125: bytes.append(UInt8(payload.count))
    case ...0xFFFF: bytes += [126, UInt8(payload.count >> 8), UInt8(payload.count & 0xFF)]
    default: bytes += [127] + (0..<8).reversed().map { UInt8(truncatingIfNeeded: payload.count >> (8 * $0)) }
    }
    return bytes + payload
}

func frame(_ opcode: UInt8, _ text: String, isFinal: Bool = true, reserved: UInt8 = 0) -> [UInt8] {
    frame(opcode, Array(text.utf8), isFinal: isFinal, reserved: reserved)
}

/// A close frame with a code and a reason.
func closeFrame(_ code: Int, _ reason: [UInt8] = []) -> [UInt8] {
    frame(0x8, [UInt8(code >> 8), UInt8(code & 0xFF)] + reason)
}

/// The ways a test cuts bytes: whole, byte by byte, and at every position in two if they are few.
func cuts(of bytes: [UInt8]) -> [[[UInt8]]] {
    let positions = bytes.count <= 300 ? Array(bytes.indices.dropFirst()) : [bytes.count / 3]
    let halves = positions.map { [Array(bytes[..<$0]), Array(bytes[$0...])] }
    return [[bytes], bytes.map { [$0] }] + halves
}
