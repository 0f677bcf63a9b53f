/// A path to match request targets with: exact, or with `*` for whole segments. It is compared byte by byte, with its
/// percent-encoding; a query counts only if the path has one.
struct MockPath: Sendable {
    let text: String
    let isPattern: Bool
    private let segments: [Substring]
    private let query: Substring?

    init(_ text: String) {
        self.text = text
        (segments, query) = Self.split(text)
        isPattern = segments.contains("*")
    }

    func matches(_ target: String) -> Bool {
        let (others, otherQuery) = Self.split(target)
        guard query == nil || query == otherQuery, segments.count == others.count else { return false }
        return zip(segments, others).allSatisfy { $0 == "*" && !$1.isEmpty || $0 == $1 }
    }

    private static func split(_ target: String) -> ([Substring], Substring?) {
        let parts = target.split(separator: "?", maxSplits: 1, omittingEmptySubsequences: false)
        let segments = parts[0].split(separator: "/", omittingEmptySubsequences: false)
        return (segments, parts.count > 1 ? parts[1] : nil)
    }
}
