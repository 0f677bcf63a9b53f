/// The ways a fuzzer cuts its input: whole, byte by byte, and into pieces whose sizes the input itself decides.
func cuts(of bytes: [UInt8]) -> [[[UInt8]]] {
    var pieces: [[UInt8]] = []
    var position = 0
    var state = bytes.reduce(UInt32(bytes.count)) { $0 &* 31 &+ UInt32($1) }
    while position < bytes.count {
        state = state &* 1_664_525 &+ 1_013_904_223
        let end = min(position + 1 + Int(state >> 27), bytes.count)
        pieces.append(Array(bytes[position..<end]))
        position = end
    }
    return [[bytes], bytes.map { [$0] }, pieces]
}
