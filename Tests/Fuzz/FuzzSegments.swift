/// What servers say that are asked for parts of one file by several workers, one answer or piece a line, after a line
/// that says what file that is. Whatever comes, pieces never overlap, and none reaches beyond what was asked for.
enum FuzzSegments {
    static func violation(of input: [UInt8]) -> String? {
        let lines = input.split(separator: 0x0A, omittingEmptySubsequences: false)
        guard let first = lines.first, var play = SegmentsPlay(first) else { return nil }
        for line in lines.dropFirst() {
            if let violation = play.take(line) { return violation }
            if play.isOver { break }
        }
        return nil
    }
}
