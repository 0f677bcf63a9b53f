public import DunlinTypes

/// Names for files that others chose, made fit to be one component of a path.
///
/// Knows what Linux allows in a name, and what deceives people. Must not know folders, or whether the name is taken.
public enum FileName {
    /// What Linux allows, in bytes.
    public static let longest = 255
    /// Stands in for a name of which nothing is left.
    public static let fallback = "download"

    /// What a response is best saved as: what Content-Disposition says, or else the last segment of the path it was
    /// asked by, or else `fallback`. Fit to be used, up to `limit` bytes; eight are enough for `fallback`.
    public static func suggested(_ fields: Fields, path: String, limit: Int = longest) -> String {
        if let name = ContentDisposition(fields)?.filename.flatMap({ cleaned($0, limit: limit) }) { return name }
        let bytes = Array(path.utf8.prefix { $0 != UInt8(ascii: "?") && $0 != UInt8(ascii: "#") })
        let segment = bytes.split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false).last ?? []
        let decoded = PercentEncoding.decode(bytes.span, in: segment.startIndex..<segment.endIndex)
        return decoded.flatMap { cleaned($0, limit: limit) } ?? fallback
    }

    /// The name as one that may be used: never empty, no path, nothing hidden, nothing that cannot be seen.
    ///
    /// - Of a path the last component counts, parted by slashes or backslashes.
    /// - Control characters, and those that turn text around or cannot be seen, are dropped.
    /// - Blanks at either end and dots at the beginning are dropped, so that no file is hidden and none is `..`.
    /// - What is longer than `limit` bytes loses the end of what stands before the extension, by whole characters.
    public static func sanitized(_ name: String, limit: Int = longest) -> String {
        cleaned(name, limit: limit) ?? fallback
    }

    private static func cleaned(_ name: String, limit: Int) -> String? {
        let component = name.unicodeScalars.split { $0 == "/" || $0 == "\\" }.last.map { Array($0) } ?? []
        let visible = component.filter { !isForbidden($0) }
        guard let start = visible.firstIndex(where: { $0 != "." && !$0.properties.isWhitespace }),
            let end = visible.lastIndex(where: { !$0.properties.isWhitespace })
        else { return nil }
        let text = String(String.UnicodeScalarView(visible[start...end]))
        return text.utf8.count <= limit ? text : shortened(text, limit)
    }

    private static func isForbidden(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.value {
        // Marks, embeddings, overrides and isolates that turn the writing around; also of the Arabic script.
        case 0x061C, 0x200E, 0x200F, 0x202A...0x202E, 0x2066...0x2069: return true
        // Not to be seen; joiners are left, since some writing needs them.
        case 0x00AD, 0x200B, 0x2060...0x2064, 0x206A...0x206F, 0xFEFF, 0xFFF9...0xFFFB, 0xE0000...0xE007F:
            return true
        default:
            switch scalar.properties.generalCategory {
            case .control, .lineSeparator, .paragraphSeparator: return true
            default: return scalar.properties.isNoncharacterCodePoint
            }
        }
    }
}

// MARK: - Length

extension FileName {
    /// An extension longer than this is none.
    private static let longestExtension = 32

    private static func shortened(_ name: String, _ limit: Int) -> String? {
        let ending = ending(of: name)
        let room = limit - ending.utf8.count
        let stem = cut(name.dropLast(ending.count), to: room)
        let text = room > 0 && !stem.isEmpty ? stem + ending : cut(name[...], to: limit)
        return text.isEmpty ? nil : text
    }

    /// `.gz`, or `.tar.gz`; empty if there is none.
    private static func ending(of name: String) -> Substring {
        guard let dot = name.lastIndex(of: ".") else { return "" }
        let before = name[..<dot]
        let start = before.hasSuffix(".tar") ? name.index(dot, offsetBy: -4) : dot
        let ending = name[start...]
        return ending.utf8.count <= longestExtension && start > name.startIndex ? ending : ""
    }

    /// As many whole characters as there is room for. A character can be longer than a name: then, as many scalars.
    private static func cut(_ text: Substring, to room: Int) -> String {
        var kept = ""
        for character in text {
            if kept.utf8.count + character.utf8.count > room { break }
            kept.append(character)
        }
        if kept.isEmpty {
            var count = 0
            for scalar in text.unicodeScalars {
                count += UTF8.width(scalar)
                if count > room { break }
                kept.unicodeScalars.append(scalar)
            }
        }
        while let last = kept.unicodeScalars.last, last.properties.isWhitespace { kept.unicodeScalars.removeLast() }
        return kept
    }
}
