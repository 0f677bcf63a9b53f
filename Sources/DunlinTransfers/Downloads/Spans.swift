internal import DunlinSecure

/// The ranges of a file's bytes that are there, and their checksums.
///
/// A span grows only at its end, as a checksum does. Two adjacent spans came by two exchanges and stay separate.
///
/// It must not know files, records, or who brings what.
struct Spans {
    private struct Span {
        var range: Range<Int>
        /// The checksum; valid only if it was computed from the span's beginning.
        var checksum = Checksum()
    }

    /// The spans in order, without overlaps, none empty.
    private var spans: [Span] = []

    var byteCount: Int { spans.reduce(0) { $0 + $1.range.count } }

    /// The end of the bytes that are there from the beginning on without a gap.
    var prefixEnd: Int {
        spans.reduce(0) { $1.range.lowerBound == $0 ? $1.range.upperBound : $0 }
    }

    /// The end of the last one.
    var end: Int { spans.last?.range.upperBound ?? 0 }

    /// The pieces that are there, with the computed checksums.
    var pieces: [ResumeData.Piece] { spans.map { ResumeData.Piece(range: $0.range, checksum: $0.checksum.value) } }

    /// The missing ranges of a file with this length, in order.
    func gaps(upTo length: Int) -> [Range<Int>] {
        var (gaps, end): ([Range<Int>], Int) = ([], 0)
        for span in spans {
            if span.range.lowerBound > end { gaps.append(end..<span.range.lowerBound) }
            end = span.range.upperBound
        }
        if end < length { gaps.append(end..<length) }
        return gaps
    }

    /// Adds bytes at the end of a span or as the beginning of a new one. None of them may have been there before.
    mutating func add(_ bytes: UnsafeRawBufferPointer, at offset: Int, isCounted: Bool) {
        if bytes.isEmpty { return }
        let index = spans.firstIndex { $0.range.upperBound == offset } ?? insert(Span(range: offset..<offset))
        spans[index].range = spans[index].range.lowerBound..<offset + bytes.count
        if isCounted { spans[index].checksum.update(bytes) }
    }

    /// Adds a separate piece whose checksum is known.
    mutating func add(_ range: Range<Int>, _ checksum: Checksum) {
        _ = insert(Span(range: range, checksum: checksum))
    }

    private mutating func insert(_ span: Span) -> Int {
        let index = spans.firstIndex { $0.range.lowerBound > span.range.lowerBound } ?? spans.count
        spans.insert(span, at: index)
        return index
    }
}
