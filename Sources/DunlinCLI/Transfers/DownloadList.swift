import Dunlin
import DunlinCommandLine

/// A file to download: its URL, and what is known of it.
struct DownloadItem: Equatable, Sendable {
    var url: String
    /// The name to save it as; nil for the server's or the URL's.
    var name: String?
    var digest: ContentDigest?

    /// The digest after `sha256:`, or in the form that `sha256sum` prints.
    static func digest(_ text: String) throws(UsageError) -> ContentDigest {
        let hex = text.hasPrefix("sha256:") ? String(text.dropFirst(7)) : text
        do throws(ContentDigest.Malformed) {
            return try ContentDigest(.sha256, hex: hex)
        } catch {
            throw UsageError(description: "\"\(text)\" is not a SHA-256 digest, which has 64 hexadecimal digits")
        }
    }
}

/// A list of files to download, one a line: a URL, and after it perhaps `sha256:` and a digest, and a name.
///
/// Blank lines do not count, nor what follows a # at the beginning of a word. Lines may end as on Windows. All of the
/// list is read before anything is requested: one line that makes no sense is an error of the whole.
enum DownloadList {
    /// `source` is what errors call the list.
    static func items(_ text: String, of source: String) throws(UsageError) -> [DownloadItem] {
        var items: [DownloadItem] = []
        let lines = text.unicodeScalars.split(omittingEmptySubsequences: false) { $0 == "\n" }
        for (index, line) in lines.enumerated() {
            do throws(UsageError) {
                if let item = try item(String(line)) { items.append(item) }
            } catch {
                throw UsageError(description: "line \(index + 1) of \(source): \(error.description)")
            }
        }
        return items
    }

    private static func item(_ line: String) throws(UsageError) -> DownloadItem? {
        let all = line.unicodeScalars.split { $0 == " " || $0 == "\t" || $0 == "\r" || $0 == "\u{FEFF}" }
            .map { String($0) }
        let words = all.prefix { !$0.hasPrefix("#") }
        guard let first = words.first else { return nil }
        var item = DownloadItem(url: try URLWord.url(of: first))
        var names: [String] = []
        for word in words.dropFirst() {
            guard word.hasPrefix("sha256:") else {
                names.append(word)
                continue
            }
            if item.digest != nil { throw UsageError(description: "there are two digests") }
            item.digest = try DownloadItem.digest(word)
        }
        if !names.isEmpty { item.name = SavedName.safe(names.joined(separator: " ")) }
        return item
    }
}
