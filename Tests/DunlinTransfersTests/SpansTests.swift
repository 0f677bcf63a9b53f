import Dunlin
import DunlinSecure
import Testing

@testable import DunlinTransfers

@Suite struct `Spans of a file` {
    private static let content = (0..<1000).map { UInt8(truncatingIfNeeded: $0 &* 7) }

    private static func add(_ range: Range<Int>, to spans: inout Spans) {
        content[range].withUnsafeBytes { spans.add($0, at: range.lowerBound, isCounted: true) }
    }

    private static func checksum(_ range: Range<Int>) -> UInt64 {
        content[range].withUnsafeBytes { Checksum.value(of: $0) }
    }

    static let orders: [([Range<Int>], [Range<Int>], Int, [Range<Int>])] = [
        ([], [], 0, [0..<100]), ([0..<10, 10..<20], [0..<20], 20, [20..<100]),
        ([50..<60, 0..<10, 60..<70, 10..<20], [0..<20, 50..<70], 20, [20..<50, 70..<100]),
        // Those that touch stay two, and the later one grows.
        ([50..<60, 0..<50, 60..<100], [0..<50, 50..<100], 100, []),
        ([30..<40, 10..<20, 20..<30, 0..<10], [0..<10, 10..<30, 30..<40], 40, [40..<100]),
        ([90..<100, 5..<6], [5..<6, 90..<100], 0, [0..<5, 6..<90]), ([0..<0, 7..<7], [], 0, [0..<100]),
    ]

    @Test(arguments: orders)
    func `a span grows where it ends, and the gaps between spans are what is missing`(
        added: [Range<Int>], expected: [Range<Int>], prefix: Int, gaps: [Range<Int>]
    ) {
        var spans = Spans()
        for range in added { Self.add(range, to: &spans) }
        #expect(spans.pieces.map(\.range) == expected)
        #expect(spans.pieces.map(\.checksum) == expected.map { Self.checksum($0) })
        #expect(spans.prefixEnd == prefix)
        #expect(spans.gaps(upTo: 100) == gaps)
        #expect(spans.byteCount == expected.reduce(0) { $0 + $1.count })
    }

    @Test func `a span continues a checksum that was made before`() {
        var (spans, checksum) = (Spans(), Checksum())
        Self.content[10..<30].withUnsafeBytes { checksum.update($0) }
        spans.add(10..<30, checksum)
        Self.add(30..<50, to: &spans)
        #expect(spans.pieces == [.init(range: 10..<50, checksum: Self.checksum(10..<50))])
    }
}
