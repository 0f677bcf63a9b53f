/// The ways a test cuts its input: whole, byte by byte, and at every place in two.
func cuts(of bytes: [UInt8]) -> [[[UInt8]]] {
    let halves = bytes.indices.dropFirst().map { [Array(bytes[..<$0]), Array(bytes[$0...])] }
    return [[bytes], bytes.map { [$0] }] + halves
}
