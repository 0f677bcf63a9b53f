internal import Dunlin
internal import FoundationEssentials

extension ImageDownloader {
    /// The whole URL of a target, without its fragment. Throws for what is none.
    nonisolated func url(of target: HTTP.Target) throws -> String {
        // Before anything is looked up: with a value that is no segment the URL would be another's.
        if let problem = target.problem {
            throw NetworkError(.invalidRequest, "\(ShownURL.of(target.template)): \(problem)", isSafeToRetry: true)
        }
        let text = String(target.text.prefix { $0 != "#" })
        if Self.isWhole(text) { return text }
        guard let base = session.configuration.baseURL, !text.prefix(while: { $0 != "?" }).contains("://"),
            let folder = URL(string: base.hasSuffix("/") ? base : base + "/"),
            let url = URL(string: text, relativeTo: folder)?.absoluteString, Self.isWhole(url)
        else {
            let reason = "\"\(ShownURL.of(target.text))\" is no URL that an image can be asked for"
            throw NetworkError(.invalidRequest, reason, isSafeToRetry: true)
        }
        return url
    }

    static func isWhole(_ text: String) -> Bool {
        let lower = text.prefix(8).lowercased()
        let start = lower.hasPrefix("http://") ? 7 : lower.hasPrefix("https://") ? 8 : 0
        guard start > 0, text.utf8.count > start else { return false }
        let rest = text.utf8.dropFirst(start)
        return rest.first != UInt8(ascii: "/") && rest.allSatisfy { $0 > 0x20 && $0 != 0x7f }
    }
}
