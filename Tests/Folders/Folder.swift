package import DunlinTypes
import Foundation
import Testing

/// A folder of a test's own, gone with its last holder; if its process is killed, with the next one's first folder.
package final class Folder: Sendable {
    package let path: String
    private let isOwn: Bool

    /// With these folders in it.
    package convenience init(with folders: String...) throws {
        self.init(isOwn: true)
        for name in [""] + folders { try make(name) }
    }

    /// A path that leads nowhere yet, for whoever makes the folder himself. `write` makes it too.
    package static func unmade() -> Folder { Folder(isOwn: false) }

    private init(isOwn: Bool) {
        path = Leftovers.newPath()
        self.isOwn = isOwn
    }

    deinit {
        do { try FileManager.default.removeItem(atPath: path) } catch {
            // Whoever made it may not have, or be at it still; what stays then is left to the next process.
            if isOwn { Issue.record("left behind: \(error)") }
        }
    }

    /// What was there is replaced in one moment, or else written over. Returns the file's path.
    @discardableResult
    package func write(_ contents: some Sequence<UInt8>, as name: String, inPlace: Bool = false) throws -> String {
        let file = URL(filePath: "\(path)/\(name)")
        try FileManager.default.createDirectory(at: file.deletingLastPathComponent(), withIntermediateDirectories: true)
        try Data(contents).write(to: file, options: inPlace ? [] : .atomic)
        return "\(path)/\(name)"
    }

    @discardableResult
    package func write(_ text: String, as name: String, inPlace: Bool = false) throws -> String {
        try write(text.utf8, as: name, inPlace: inPlace)
    }

    /// Makes a folder in it, and those above.
    package func make(_ name: String) throws {
        try FileManager.default.createDirectory(atPath: "\(path)/\(name)", withIntermediateDirectories: true)
    }

    package func remove(_ name: String) throws { try FileManager.default.removeItem(atPath: "\(path)/\(name)") }

    package func contents(_ name: String) throws -> Bytes {
        Bytes(try Data(contentsOf: URL(filePath: "\(path)/\(name)")))
    }

    /// Empty where there is no such file.
    package func text(of name: String) -> String {
        String(decoding: FileManager.default.contents(atPath: "\(path)/\(name)") ?? Data(), as: UTF8.self)
    }

    /// Of what lies in it, or in a folder of it, in order.
    package func names(_ folder: String = "") throws -> [String] {
        try FileManager.default.contentsOfDirectory(atPath: "\(path)/\(folder)").sorted()
    }
}
