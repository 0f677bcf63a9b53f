public import DunlinTypes

extension LoopbackServer {
    /// An endless body with a known byte at each offset: the offset modulo 251.
    ///
    /// 251 is prime, so usual buffer sizes are not multiples of the period, and a lost or repeated buffer is noticed.
    public enum GeneratedBody {
        static let period = 251

        @inlinable public static func byte(at offset: Int) -> UInt8 { UInt8(offset % 251) }

        public static func bytes(_ range: Range<Int>) -> Bytes {
            var bytes: [UInt8] = []
            bytes.reserveCapacity(range.count)
            var start = range.lowerBound % period
            block.withUnsafeBytes { block in
                while bytes.count < range.count {
                    // In blocks, because tests are debug builds, where a loop over bytes takes seconds.
                    let count = min(range.count - bytes.count, block.count - start)
                    bytes.append(contentsOf: UnsafeRawBufferPointer(rebasing: block[start..<(start + count)]))
                    start = 0
                }
            }
            return Bytes(bytes)
        }

        /// Returns the hash of a body with this length, to compare with `RecordedRequest.bodyHash`.
        public static func hash(length: Int) -> UInt64 {
            var hash = BodyHash()
            forEachBlock(0..<length) { hash.update($0) }
            return hash.value
        }

        private static let block = {
            var bytes = (0..<period).map { byte(at: $0) }
            for _ in 0..<9 { bytes += bytes }
            return Bytes(bytes)
        }()

        static func forEachBlock<Failure: Error>(
            _ range: Range<Int>, _ body: (UnsafeRawBufferPointer) throws(Failure) -> Void
        ) throws(Failure) {
            try block.withUnsafeBytes { bytes throws(Failure) in
                var (start, left) = (range.lowerBound % period, range.count)
                while left > 0 {
                    // Up to the end of a block, except for the last: each block after the first begins at a multiple of
                    // the period.
                    let count = min(left, bytes.count - start)
                    try body(UnsafeRawBufferPointer(rebasing: bytes[start..<(start + count)]))
                    left -= count
                    start = 0
                }
            }
        }
    }
}
