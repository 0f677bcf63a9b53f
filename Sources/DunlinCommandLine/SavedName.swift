internal import Dunlin
internal import DunlinSemantics

/// The name of a file that others chose: never a path, never hidden, and without bytes that control a terminal.
package enum SavedName {
    /// The name, made safe.
    package static func safe(_ name: String) -> String { FileName.sanitized(name) }

    /// What a URL's path ends with, made safe.
    package static func ofURL(_ url: String) -> String {
        let path = url.prefix { $0 != "?" && $0 != "#" }.drop { $0 != ":" }.dropFirst(3).drop { $0 != "/" }
        return FileName.suggested(Fields(), path: String(path))
    }

    /// The name with a number before its extension: `a.tar.gz` becomes `a-1.tar.gz`.
    package static func numbered(_ name: String, _ number: Int) -> String {
        let suffix = "-\(number)"
        let name = FileName.sanitized(name, limit: FileName.longest - suffix.utf8.count)
        let stem = name.prefix(upTo: name.lastIndex(of: ".") ?? name.endIndex)
        let end = stem.hasSuffix(".tar") ? stem.dropLast(4).endIndex : stem.endIndex
        return end == name.startIndex ? name + suffix : name[..<end] + suffix + name[end...]
    }
}
