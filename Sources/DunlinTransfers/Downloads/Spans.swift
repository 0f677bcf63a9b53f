internal import DunlinSecure

/// Which bytes of a file are there, and what they look like.
///
/// A span grows at its end only, for that is how a checksum does. Two that touch were brought by two, and stay two.
///
/// Must not know: files, records, who brings what.
struct Spans {
    private struct Span {
        var range: Range<Int>
        /// Of no use unless it was counted along from the beginning on.
        var checksum = Checksum()
    }

    /// In order, without overlaps, none empty.
    private var spans: [Span] = []

    var byteCount: Int { spans.reduce(0) { $0 + $1.range.count } }

    /// Up to where nothing is missing from the beginning on.
    var prefixEnd: Int {
        spans.reduce(0) { $1.range.lowerBound == $0 ? $1.range.upperBound : $0 }
    }

    /// What there is, with the checksums of what was counted along.
    var pieces: [ResumeData.Piece] { spans.map { ResumeData.Piece(range: $0.range, checksum: $0.checksum.value) } }

    /// What is missing of a file of this length, in order.
    func gaps(upTo length: Int) -> [Range<Int>] {
        var (gaps, end): ([Range<Int>], Int) = ([], 0)
        for span in spans {
            if span.range.lowerBound > end { gaps.append(end..<span.range.lowerBound) }
            end = span.range.upperBound
        }
        if end < length { gaps.append(end..<length) }
        return gaps
    }

    /// These are there now, after what was before them or as the beginning of something new. None of them was before.
    mutating func add(_ bytes: UnsafeRawBufferPointer, at offset: Int, isCounted: Bool) {
        if bytes.isEmpty { return }
        let index = spans.firstIndex { $0.range.upperBound == offset } ?? insert(Span(range: offset..<offset))
        spans[index].range = spans[index].range.lowerBound..<offset + bytes.count
        if isCounted { spans[index].checksum.update(bytes) }
    }

    /// A piece of its own, counted already.
    mutating func add(_ range: Range<Int>, _ checksum: Checksum) {
        _ = insert(Span(range: range, checksum: checksum))
    }

    private mutating func insert(_ span: Span) -> Int {
        let index = spans.firstIndex { $0.range.lowerBound > span.range.lowerBound } ?? spans.count
        spans.insert(span, at: index)
        return index
    }
}
