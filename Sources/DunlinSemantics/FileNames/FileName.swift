public import DunlinTypes

/// Makes file names that others chose safe as one component of a path.
///
/// Knows what Linux allows in a name, and what deceives people. Must not know folders, or whether the name is taken.
public enum FileName {
    /// The longest name on Linux, in bytes.
    public static let longest = 255
    /// The name to use if nothing is left of one.
    public static let fallback = "download"

    /// Returns the name to save a response as: from Content-Disposition, or else the last segment of the requested
    /// path, or else `fallback`. It is safe, and has at most `limit` bytes; `fallback` needs eight.
    public static func suggested(_ fields: Fields, path: String, limit: Int = longest) -> String {
        if let name = ContentDisposition(fields)?.filename.flatMap({ cleaned($0, limit: limit) }) { return name }
        let bytes = Array(path.utf8.prefix { $0 != UInt8(ascii: "?") && $0 != UInt8(ascii: "#") })
        let segment = bytes.split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false).last ?? []
        let decoded = PercentEncoding.decode(bytes.span, in: segment.startIndex..<segment.endIndex)
        return decoded.flatMap { cleaned($0, limit: limit) } ?? fallback
    }

    /// Returns a safe name: never empty, no path, not hidden, without invisible characters.
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
        // Marks, embeddings, overrides and isolates that change the direction of text, also for Arabic.
        case 0x061C, 0x200E, 0x200F, 0x202A...0x202E, 0x2066...0x2069: return true
        // Invisible characters; joiners are kept, since some scripts need them.
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
    /// The longest extension; a longer one does not count.
    private static let longestExtension = 32

    private static func shortened(_ name: String, _ limit: Int) -> String? {
        let ending = ending(of: name)
        let room = limit - ending.utf8.count
        let stem = cut(name.dropLast(ending.count), to: room)
        let text = room > 0 && !stem.isEmpty ? stem + ending : cut(name[...], to: limit)
        return text.isEmpty ? nil : text
    }

    /// Returns the extension, such as `.gz` or `.tar.gz`; empty if there is none.
    private static func ending(of name: String) -> Substring {
        guard let dot = name.lastIndex(of: ".") else { return "" }
        let before = name[..<dot]
        let start = before.hasSuffix(".tar") ? name.index(dot, offsetBy: -4) : dot
        let ending = name[start...]
        return ending.utf8.count <= longestExtension && start > name.startIndex ? ending : ""
    }

    /// Returns as many whole characters as there is room for. A character can be longer than a name: then, as many
    /// scalars.
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
