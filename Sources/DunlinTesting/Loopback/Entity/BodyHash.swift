public import DunlinTypes

extension LoopbackServer {
    /// A hash (FNV-1a, 64 bits) to compare bodies that are too large to keep. Not for secrets.
    public struct BodyHash: Sendable, Hashable {
        public private(set) var value: UInt64 = 0xcbf2_9ce4_8422_2325

        public init() {}

        public init(_ bytes: Bytes) {
            bytes.withUnsafeBytes { update($0) }
        }

        public mutating func update(_ bytes: UnsafeRawBufferPointer) {
            var hash = value
            for byte in bytes { hash = (hash ^ UInt64(byte)) &* 0x100_0000_01b3 }
            value = hash
        }
    }
}
